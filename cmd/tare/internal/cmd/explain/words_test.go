package explain

import (
	"strings"
	"testing"
)

func TestWordsAreSortedAndUnique(t *testing.T) {
	w := listWords()
	for i := range w {
		if w[i].Text == "" || strings.Contains(w[i].Text, "\n") {
			t.Errorf("%s: %q is no explanation", w[i].Word, w[i].Text)
		}
		if i > 0 && w[i-1].Word >= w[i].Word {
			t.Errorf("%q comes after %q", w[i].Word, w[i-1].Word)
		}
	}
}
