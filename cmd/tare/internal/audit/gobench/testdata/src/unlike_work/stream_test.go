package unlike_work

import (
	"encoding/json"
	"testing"
)

func sizeJSON(numbers []uint32) (int, error) {
	raw, err := json.Marshal(numbers)
	return len(raw), err
}

func sizeBatch(numbers []uint32) (int, error) { // want `this side of the comparison never calls Seal of what newBatch returns`
	f := newBatch(len(numbers))
	f.Add(numbers...)
	return f.Size(), nil
}

func sizeSealed(numbers []uint32) (int, error) {
	f := newBatch(len(numbers))
	f.Add(numbers...)
	return len(f.Seal()), nil
}

func BenchmarkSizes(b *testing.B) {
	numbers := []uint32{1, 2, 3}
	for _, c := range []struct {
		name   string
		encode func([]uint32) (int, error)
	}{{"json", sizeJSON}, {"batch", sizeBatch}, {"sealed", sizeSealed}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.encode(numbers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWalks(b *testing.B) {
	data := make([]byte, 400)
	for _, c := range []struct {
		name string
		read func([]byte) error
	}{
		{"decode", func(data []byte) error { decodeAll(data); return nil }},
		{"walk", func(data []byte) error { return newWalk(data).Err() }}, // want `this side of the comparison never calls Next of what newWalk returns`
		{"numbers", func(data []byte) error {
			w := newWalk(data)
			for w.Next() {
				w.Number()
			}
			return w.Err()
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type noteEncoder struct {
	name   string
	encode func(*note) ([]byte, error)
}

func BenchmarkNotes(b *testing.B) {
	encoders := []noteEncoder{
		{"json", func(n *note) ([]byte, error) { return json.Marshal(n.text) }},
		{"wire", (*note).Wire}, // want `one side of the comparison, ..note..Wire, keeps its result in its receiver`
	}
	for _, e := range encoders {
		b.Run(e.name, func(b *testing.B) {
			n := &note{text: "text"}
			for b.Loop() {
				if _, err := e.encode(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The note is new in each iteration.
func BenchmarkNewNotes(b *testing.B) {
	encoders := []noteEncoder{
		{"json", func(n *note) ([]byte, error) { return json.Marshal(n.text) }},
		{"encode", (*note).Encode},
		{"wire", (*note).Wire},
	}
	for _, e := range encoders {
		b.Run(e.name, func(b *testing.B) {
			for b.Loop() {
				n := &note{text: "text"}
				if _, err := e.encode(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
