import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listTranslations = operation.GET("/orgs/{organizationId}/translations");
export const createTranslation = operation.POST("/orgs/{organizationId}/translations");
export const listGlossaryEntries = operation.GET("/orgs/{organizationId}/translations-glossary");
export const updateGlossaryEntries = operation.PUT("/orgs/{organizationId}/translations-glossary");
export const deleteTranslation = operation.DELETE("/orgs/{organizationId}/translations/{translationId}");
export const getTranslation = operation.GET("/orgs/{organizationId}/translations/{translationId}");
export const updateTranslation = operation.PUT("/orgs/{organizationId}/translations/{translationId}");
export const cancelTranslation = operation.POST("/orgs/{organizationId}/translations/{translationId}/cancel");
export const runTranslation = operation.POST("/orgs/{organizationId}/translations/{translationId}/run");

export const translationOf = (organization: string, id: string) =>
  resource(
    `org/${organization}/translations/${id}`,
    () => getTranslation({ organizationId: organization, translationId: id }),
  );
