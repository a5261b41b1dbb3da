package unlike_work

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// packer writes names one after the other.
type packer struct{ buf []byte }

func (p *packer) Reserve(name string) {
	if cap(p.buf)-len(p.buf) < len(name) {
		p.buf = append(make([]byte, 0, 2*cap(p.buf)+len(name)), p.buf...)
	}
}

func (p *packer) Add(name string) {
	p.Reserve(name)
	p.buf = append(p.buf, name...)
}

func (p *packer) Bytes() []byte { return p.buf }

func BenchmarkSave(b *testing.B) {
	names := []string{"lamp", "heater"}
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			out, err := json.Marshal(names)
			if err != nil {
				b.Fatal(err)
			}
			sink = out
		}
	})
	b.Run("packed", func(b *testing.B) {
		for b.Loop() { // want `only makes room for values`
			var p packer
			for _, name := range names {
				p.Reserve(name)
			}
			sink = p.Bytes()
		}
	})
}

func BenchmarkSaveWhole(b *testing.B) {
	names := []string{"lamp", "heater"}
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			out, err := json.Marshal(names)
			if err != nil {
				b.Fatal(err)
			}
			sink = out
		}
	})
	b.Run("packed", func(b *testing.B) {
		for b.Loop() {
			var p packer
			for _, name := range names {
				p.Reserve(name)
				p.Add(name)
			}
			sink = p.Bytes()
		}
	})
}

// lazyFrame is written when Bytes is called.
type lazyFrame struct {
	name string
	buf  []byte
}

func newLazyFrame(name string) *lazyFrame { return &lazyFrame{name, make([]byte, 0, 24)} }

func (f *lazyFrame) Bytes() []byte { return append(f.buf[:0], f.name...) }

// text writes a name.
func text(name string) []byte { return append([]byte("0"), name...) }

func BenchmarkEncode(b *testing.B) {
	names := []string{"lamp", "heater"}
	b.Run("text", func(b *testing.B) {
		i := 0
		for b.Loop() {
			sink = text(names[i%len(names)])
			i++
		}
	})
	b.Run("binary", func(b *testing.B) {
		i := 0
		for b.Loop() { // want `only makes values`
			sink = newLazyFrame(names[i%len(names)])
			i++
		}
	})
	b.Run("whole", func(b *testing.B) {
		i := 0
		for b.Loop() {
			sink = newLazyFrame(names[i%len(names)]).Bytes()
			i++
		}
	})
}

// AppendHead appends the number of names.
func AppendHead(dst []byte, names []string) []byte { return append(dst, byte(len(names))) }

// AppendNames appends the names.
func AppendNames(dst []byte, names []string) []byte {
	dst = AppendHead(dst, names)
	for _, name := range names {
		dst = append(dst, name...)
	}
	return dst
}

func BenchmarkStore(b *testing.B) {
	names := []string{"lamp", "heater"}
	for _, tt := range []struct {
		name   string
		encode func([]string) ([]byte, error)
	}{
		{"json", func(names []string) ([]byte, error) { return json.Marshal(names) }},
		{"binary", func(names []string) ([]byte, error) { return AppendHead(nil, names), nil }}, // want `writes only the beginning of its input`
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				out, err := tt.encode(names)
				if err != nil {
					b.Fatal(err)
				}
				sink = out
			}
		})
	}
}

func BenchmarkStoreWhole(b *testing.B) {
	names := []string{"lamp", "heater"}
	for _, tt := range []struct {
		name   string
		encode func([]string) ([]byte, error)
	}{
		{"json", func(names []string) ([]byte, error) { return json.Marshal(names) }},
		{"binary", func(names []string) ([]byte, error) { return AppendNames(nil, names), nil }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				out, err := tt.encode(names)
				if err != nil {
					b.Fatal(err)
				}
				sink = out
			}
		})
	}
}

// collector keeps names until Bytes writes them.
type collector struct{ names []string }

func (c *collector) Add(name string) { c.names = append(c.names, name) }

func (c *collector) Bytes() []byte {
	var out []byte
	for _, name := range c.names {
		out = append(out, name...)
	}
	return out
}

func BenchmarkForms(b *testing.B) {
	names := []string{"lamp", "heater"}
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			sink = AppendNames(nil, names)
		}
	})
	b.Run("collected", func(b *testing.B) {
		for b.Loop() { // want `never calls c.Bytes`
			c := &collector{}
			for _, name := range names {
				c.Add(name)
			}
			sink = c
		}
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			c := &collector{}
			for _, name := range names {
				c.Add(name)
			}
			sink = c.Bytes()
		}
	})
}

// lines returns a reader that writes the names as they are read.
func lines(names []string) io.Reader { return strings.NewReader(strings.Join(names, "\n")) }

func BenchmarkExport(b *testing.B) {
	names := []string{"lamp", "heater"}
	b.Run("packed", func(b *testing.B) {
		for b.Loop() {
			sink = AppendNames(nil, names)
		}
	})
	b.Run("lines", func(b *testing.B) {
		for b.Loop() { // want `makes a reader, and nothing reads from it`
			sink = lines(names)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := io.Copy(io.Discard, lines(names)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
