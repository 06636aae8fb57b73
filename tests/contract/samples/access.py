from . import MEMBERS_ONLY, Sample

SAMPLES = {
    "getAuthenticatedUser": Sample(),
    "getUserById": Sample(like=MEMBERS_ONLY),
}
