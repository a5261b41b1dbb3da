package globals_changed

import "testing"

var most = 1000

func TestGood(t *testing.T) {
	before := most
	t.Cleanup(func() { most = before })
	most = 1
	if len("text") < most {
		t.Error("too short")
	}
}

func BenchmarkGood(b *testing.B) {
	Register("plain", func() string { return "plain text" })
	n := 0
	for b.Loop() {
		if n++; n > most {
			n = len(Encode("plain"))
		}
	}
}
