/** Letters and selections that are already in the browser but haven't been read by the editor yet. */
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";

/**
 * Return the state of an editor with everything that the person has done so far. Use it to apply other people's
 * changes or to show their carets and comments.
 *
 * Browsers announce a selection a moment after they change it. If the document or its decorations change in that
 * moment, the previous selection is restored, and the next key would delete or insert a letter there.
 */
export function readInput(view: EditorView): EditorState {
  // The editor does this itself before it handles a key. It isn't in its types.
  (view as unknown as { domObserver: { flush(): void } }).domObserver.flush();
  return view.state;
}
