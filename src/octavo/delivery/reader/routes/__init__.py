"""Routes of a site, one module per subject."""

from . import assistants as assistants
from . import blocks as blocks
from . import embedding as embedding
from . import files as files
from . import images as images
from . import indexes as indexes
from . import pages as pages
from . import questions as questions
from . import ratings as ratings
from . import references as references
from . import searching as searching
from . import seen as seen
from . import tags as tags
from . import trying as trying
