from . import Sample

SAMPLES = {
    "getSpacePDF": Sample(query={"only": "false"}),
    "getChangeRequestPDF": Sample(query={"only": "true"}),
}
