package writer_unflushed

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"testing"
)

type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

var factories = map[string]func(io.Writer) (resetter, error){
	"gzip":  func(w io.Writer) (resetter, error) { return gzip.NewWriter(w), nil },
	"flate": func(w io.Writer) (resetter, error) { return flate.NewWriter(w, 1) },
}

type packer struct {
	w   resetter
	out bytes.Buffer
}

func newPacker(name string) *packer {
	p := &packer{}
	p.w, _ = factories[name](&p.out)
	return p
}

func (p *packer) pack(text []byte) error {
	p.out.Reset()
	p.w.Reset(&p.out) // want `p.w is reset and written to in each iteration`
	_, err := p.w.Write(text)
	return err
}

func (p *packer) packAll(text []byte) error {
	p.out.Reset()
	p.w.Reset(&p.out)
	if _, err := p.w.Write(text); err != nil {
		return err
	}
	return p.w.Close()
}

func BenchmarkPackers(b *testing.B) {
	for name := range factories {
		b.Run(name, func(b *testing.B) {
			p := newPacker(name)
			for b.Loop() {
				if err := p.pack([]byte("text")); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/all", func(b *testing.B) {
			p := newPacker(name)
			for b.Loop() {
				if err := p.packAll([]byte("text")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func compress[W resetter](w W, dst io.Writer, text []byte) error {
	w.Reset(dst) // want `w is reset and written to in each iteration`
	_, err := w.Write(text)
	return err
}

func compressAll[W resetter](w W, dst io.Writer, text []byte) error {
	w.Reset(dst)
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

func BenchmarkGenericPack(b *testing.B) {
	w := gzip.NewWriter(nil)
	all := gzip.NewWriter(nil)
	write := w.Write
	for b.Loop() {
		if err := compress(w, io.Discard, []byte("text")); err != nil {
			b.Fatal(err)
		}
		if err := compressAll(all, io.Discard, []byte("text")); err != nil {
			b.Fatal(err)
		}
	}
	write(nil)
}

func BenchmarkFactory(b *testing.B) {
	for name, open := range factories {
		b.Run(name, func(b *testing.B) {
			w, err := open(io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w.Reset(io.Discard) // want `w is reset and written to in each iteration`
				if _, err := w.Write([]byte("text")); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/deferred", func(b *testing.B) {
			w, err := open(io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			once := func() error {
				w.Reset(io.Discard)
				defer w.Close()
				_, err := w.Write([]byte("text"))
				return err
			}
			for b.Loop() {
				if err := once(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
