import { mount } from "svelte";
import "../generated/colors.css";
import "../generated/tokens.css";
import "../shared/fonts.css";
import "./base.css";
import { loadWords } from "../shared/words.ts";
import App from "./App.svelte";
import { router } from "./state/router.svelte.ts";
import { themes } from "./state/theme.svelte.ts";

themes.apply();
await loadWords();
router.start();
mount(App, { target: document.body });
