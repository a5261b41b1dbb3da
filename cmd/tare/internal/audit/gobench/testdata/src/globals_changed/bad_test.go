package globals_changed

import "testing"

var encoders = map[string]func() string{}

func Register(name string, f func() string) { encoders[name] = f }
func Reset()                                { clear(encoders) }
func Encode(name string) string {
	if f, ok := encoders[name]; ok {
		return f()
	}
	return ""
}

func init() { Register("plain", func() string { return "plain text" }) }

var limit = 1000

func TestReset(t *testing.T) {
	Reset()   // want `removes what an init function registered`
	limit = 1 // want `TestReset sets limit and does not restore it`
	if Encode("plain") != "" {
		t.Error("an encoder is left")
	}
}

func BenchmarkBad(b *testing.B) {
	n := 0
	for b.Loop() {
		if n++; n > limit {
			n = len(Encode("plain"))
		}
	}
}
