/** Letters and selections that the browser has and that the editor hasn't read yet. */
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";

/**
 * Return the state of an editor with everything that the person did so far, to apply changes of others to it or to show
 * their carets and comments.
 *
 * Browsers announce a selection a moment after they change it. A change of the document or of its decorations in that
 * moment restores the previous selection, and the next key would delete or insert a letter there.
 */
export function readInput(view: EditorView): EditorState {
  // The editor does this itself before it handles a key. It isn't in its types.
  (view as unknown as { domObserver: { flush(): void } }).domObserver.flush();
  return view.state;
}
