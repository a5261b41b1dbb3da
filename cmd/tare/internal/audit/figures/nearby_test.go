package figures

import (
	"fmt"
	"strings"
	"testing"
)

// manyTables returns a page of n sections, each with a table and a claim about it.
func manyTables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## Part %d\n\n| case | plain | packed |\n|---|---|---|\n| users | %d ns | 100 ns |\n| orders | %d ns | 100 ns |\n\n", i, 201+i, 302+i)
		fmt.Fprintf(&b, "On users packed is %d%% faster than plain.\n\n", 7+i%31)
	}
	return b.String()
}

// The number of tables and groups that statements are compared with grows with the page, not with its square.
func TestComparesNearTables(t *testing.T) {
	count := func(n int) int {
		r := newReader("file")
		for line := range strings.Lines(manyTables(n)) {
			if err := r.readLine(strings.TrimRight(line, "\n")); err != nil {
				t.Fatal(err)
			}
		}
		r.finishFile()
		r.doc.applyRules()
		return r.doc.comparisons
	}
	few, many := count(50), count(200)
	if few == 0 || many > 5*few {
		t.Errorf("%d comparisons with 50 tables, %d with 200", few, many)
	}
}
