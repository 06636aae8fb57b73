#!/bin/sh
# /usr/local/bin/octavo: lets root run the command with the settings and the user of the service.
# A folder that this user can't enter would stop the command from starting.
folder=$(runuser -u octavo -- pwd 2>/dev/null) || folder=/var/lib/octavo
exec systemd-run --quiet --pipe --pty --wait --collect --service-type=exec --uid=octavo --gid=octavo \
  --property=EnvironmentFile=/etc/octavo.env --property=EnvironmentFile=-/etc/octavo-backup.env \
  --property=WorkingDirectory="$folder" --property=UMask=0077 \
  --setenv=OCTAVO_DATA=/var/lib/octavo /opt/octavo/bin/octavo "$@"
