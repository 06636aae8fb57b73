#!/bin/sh
# /usr/local/bin/octavo: lets root run the command with the settings and the user of the service.
exec systemd-run --quiet --pipe --pty --wait --collect --service-type=exec --uid=octavo --gid=octavo \
  --property=EnvironmentFile=/etc/octavo.env --property=EnvironmentFile=-/etc/octavo-backup.env \
  --property=WorkingDirectory="$PWD" --property=UMask=0077 \
  --setenv=OCTAVO_DATA=/var/lib/octavo /opt/octavo/bin/octavo "$@"
