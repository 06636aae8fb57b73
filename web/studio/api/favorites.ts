import { operation } from "../../shared/client.ts";

export const listFavorites = operation.GET("/user/favorites");
export const addFavorite = operation.POST("/user/favorites");
export const moveFavorite = operation.PATCH("/user/favorites/{favoriteId}");
export const removeFavorite = operation.DELETE("/user/favorites/{favoriteId}");
