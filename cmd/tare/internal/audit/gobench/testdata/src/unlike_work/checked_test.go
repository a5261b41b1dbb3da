package unlike_work

import (
	"errors"
	"testing"
)

type parcel struct{ text string }

func newParcel(text string) (*parcel, error) {
	if text == "" {
		return nil, errors.New("nothing to send")
	}
	return &parcel{text}, nil
}

func encodeParcel(text string) ([]byte, error) {
	if text == "" {
		return nil, errors.New("nothing to send")
	}
	return append(make([]byte, 0, 8), text...), nil
}

var (
	lastParcel  *parcel
	lastEncoded []byte
)

func BenchmarkEncodeParcel(b *testing.B) {
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			text, err := encodeParcel("a")
			if err != nil {
				b.Fatal(err)
			}
			lastEncoded = text
		}
	})
	b.Run("frame", func(b *testing.B) {
		for b.Loop() { // want `only makes values`
			p, err := newParcel("a")
			if err != nil {
				b.Fatal(err)
			}
			lastParcel = p
		}
	})
}
