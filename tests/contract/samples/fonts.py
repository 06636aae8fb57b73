from . import Sample

# Uploads belong to the person who sent them: only the administrator of the world has this one.
_UPLOADER = {"create": 404}

SAMPLES = {
    "listCustomFonts": Sample(),
    "createCustomFont": Sample(
        body=lambda place: {
            "fontFamily": "Playfair",
            "fontFaces": [{"weight": 400, "storageKey": place["fontKey"]}],
        },
        outcomes=_UPLOADER,
    ),
    "getCustomFont": Sample(),
    "updateCustomFont": Sample(
        body=lambda place: {"fontFaces": [{"weight": 700, "storageKey": place["fontKey"]}]},
        outcomes=_UPLOADER,
    ),
    "deleteCustomFont": Sample(),
    "listPictures": Sample(),
    "createPicture": Sample(body=lambda place: {"storageKey": place["pictureKey"]}, outcomes=_UPLOADER),
    "deletePicture": Sample(),
}
