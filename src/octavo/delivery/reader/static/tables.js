// Search fields of tables: only rows that contain all typed words stay visible
(() => {
  "use strict";
  for (const input of document.querySelectorAll(".table-search")) {
    const box = input.nextElementSibling, none = document.createElement("p");
    none.role = "status";
    box.after(none);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const row of box.querySelectorAll("tbody tr")) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        found += !row.hidden;
      }
      none.textContent = found ? "" : input.dataset.none;
    });
  }
})();
