package shop

import (
	"encoding/json"
	"os"
	"testing"
)

func orders(tb testing.TB) ([]byte, []Order) {
	tb.Helper()
	lines, err := os.ReadFile("orders.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	all, err := Parse(lines)
	if err != nil {
		tb.Fatal(err)
	}
	return lines, all
}

func TestParse(t *testing.T) {
	_, all := orders(t)
	if len(all) != 24 || all[0].Total() != 4798 {
		t.Errorf("%d orders, the first of %d cents; want 24 and 4798", len(all), all[0].Total())
	}
	if _, err := Parse([]byte("{}\n{")); err == nil {
		t.Error("half an order was taken")
	}
}

func BenchmarkParse(b *testing.B) {
	lines, _ := orders(b)
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		if _, err := Parse(lines); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	_, all := orders(b)
	for b.Loop() {
		if _, err := json.Marshal(all); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTotal(b *testing.B) {
	_, all := orders(b)
	var cents int64
	for b.Loop() {
		for i := range all {
			cents += all[i].Total()
		}
	}
	if cents == 0 {
		b.Error("orders cost nothing")
	}
}
