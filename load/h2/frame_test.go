package h2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// cut reads all frames of input, which arrives in parts of at most piece bytes.
func cut(input []byte, piece int) (frames []Frame, partial bool, err error) {
	r := new(Reader)
	for len(input) > 0 {
		n := min(piece, len(input))
		b := bytes.Clone(input[:n])
		for len(b) > 0 {
			f, used, whole, err := r.Next(b)
			if err != nil {
				return frames, false, err
			}
			if whole {
				f.Payload = bytes.Clone(f.Payload)
				frames = append(frames, f)
			} else if used != len(b) {
				return nil, false, Error("bytes were left over")
			}
			b = b[used:]
		}
		input = input[n:]
	}
	return frames, r.Partial(), nil
}

func TestFramesInPieces(t *testing.T) {
	want := []Frame{
		{Settings, 0, 0, []byte("\x00\x03\x00\x00\x00\x64")},
		{Headers, EndHeaders, 1, []byte("block")},
		{Data, 0, 1, bytes.Repeat([]byte("d"), MaxFrame)},
		{Data, EndStream, 1, []byte{}},
		{Settings, Ack, 0, []byte{}},
		{Type(99), 7, 5, []byte("unknown")},
		{GoAway, 0, 0, []byte("\x00\x00\x00\x01\x00\x00\x00\x00why")},
		{RSTStream, 0, MaxStream, []byte("\x00\x00\x00\x08")},
	}
	var input []byte
	for _, f := range want {
		input = AppendFrame(input, f)
	}
	for _, piece := range []int{1, 2, 8, 9, 10, 15, 1000, len(input) - 1, len(input)} {
		got, partial, err := cut(input, piece)
		assert.NoError(t, "frames", err)
		assert.Equal(t, "partial", partial, false)
		assert.Equal(t, fmt.Sprintf("frames in pieces of %d", piece), fmt.Sprintf("%x", got), fmt.Sprintf("%x", want))
	}
	_, partial, err := cut(input[:len(input)-1], 7)
	assert.NoError(t, "frames", err)
	assert.Equal(t, "partial", partial, true)
}

func TestAppended(t *testing.T) {
	b := AppendSettings(nil, Setting{InitialWindowSize, 70000}, Setting{EnablePush, 0})
	b = AppendWindowUpdate(b, 3, 1000)
	b = AppendReset(b, 5, Cancel)
	b = AppendGoAway(b, 7, NoError)
	frames, _, err := cut(b, 100)
	assert.NoError(t, "frames", err)
	assert.Equal(t, "frames", len(frames), 4)
	var values []string
	for id, v := range frames[0].Values() {
		values = append(values, fmt.Sprint(id, v))
	}
	assert.Slices(t, "settings", values, []string{"4 70000", "2 0"})
	assert.Equal(t, "increment", frames[1].Number(0), 1000)
	assert.Equal(t, "stream", frames[1].Stream, 3)
	assert.Equal(t, "code", Code(frames[2].Number(0)), Cancel)
	assert.Equal(t, "last stream", frames[3].Number(0), 7)
	assert.Equal(t, "names", fmt.Sprint(frames[0].Type, frames[3].Type, Type(77), Cancel, Code(99)), "SETTINGS GOAWAY frame type 77 CANCEL error code 99")
}

func TestFramesRefused(t *testing.T) {
	for want, f := range map[string]Frame{
		"a PRIORITY frame of 4 bytes":      {Priority, 0, 1, make([]byte, 4)},
		"a RST_STREAM frame of 5 bytes":    {RSTStream, 0, 1, make([]byte, 5)},
		"a RST_STREAM frame of stream 0":   {RSTStream, 0, 0, make([]byte, 4)},
		"a SETTINGS frame of 5 bytes":      {Settings, 0, 0, make([]byte, 5)},
		"a SETTINGS frame of 6 bytes":      {Settings, Ack, 0, make([]byte, 6)},
		"a SETTINGS frame of stream 1":     {Settings, 0, 1, nil},
		"a PING frame of 7 bytes":          {Ping, 0, 0, make([]byte, 7)},
		"a PING frame of stream 3":         {Ping, 0, 3, make([]byte, 8)},
		"a GOAWAY frame of 7 bytes":        {GoAway, 0, 0, make([]byte, 7)},
		"a GOAWAY frame of stream 1":       {GoAway, 0, 1, make([]byte, 8)},
		"a WINDOW_UPDATE frame of 3 bytes": {WindowUpdate, 0, 0, make([]byte, 3)},
		"a DATA frame of stream 0":         {Data, 0, 0, nil},
		"a HEADERS frame of stream 0":      {Headers, 0, 0, nil},
		"a CONTINUATION frame of stream 0": {Continuation, 0, 0, nil},
		"a frame of 16385 bytes":           {Data, 0, 1, make([]byte, MaxFrame+1)},
		"a frame of 100000 bytes":          {Type(200), 0, 0, make([]byte, 100000)},
	} {
		b := AppendFrame(nil, f)
		for _, piece := range []int{1, len(b)} {
			_, _, err := cut(b, piece)
			assert.ErrorContains(t, want, err, want)
		}
	}
	// A frame that is too long is refused by its first bytes.
	_, _, err := cut([]byte("HTTP/1.1 "), 9)
	assert.ErrorContains(t, "HTTP/1.1", err, "a frame of 4740180 bytes")
}

func TestContent(t *testing.T) {
	for _, c := range []struct {
		f    Frame
		want string
		err  string
	}{
		{Frame{Data, 0, 1, []byte("abc")}, "abc", ""},
		{Frame{Data, Padded, 1, []byte("\x02abcXX")}, "abc", ""},
		{Frame{Data, Padded, 1, []byte("\x00")}, "", ""},
		{Frame{Data, HasPriority, 1, []byte("abc")}, "abc", ""},
		{Frame{Headers, Padded | HasPriority, 1, []byte("\x01\x00\x00\x00\x00\x07abX")}, "ab", ""},
		{Frame{Headers, HasPriority, 1, []byte("\x00\x00\x00\x00\x07")}, "", ""},
		{Frame{Data, Padded, 1, nil}, "", "without a length"},
		{Frame{Data, Padded, 1, []byte("\x03ab")}, "", "more padding than frame"},
		{Frame{Headers, HasPriority, 1, []byte("abcd")}, "", "too short"},
		{Frame{Headers, Padded | HasPriority, 1, []byte("\x01abcde")}, "", "more padding"},
	} {
		got, err := c.f.Content()
		if c.err != "" {
			assert.ErrorContains(t, c.err, err, c.err)
			continue
		}
		assert.NoError(t, c.want, err)
		assert.Equal(t, "content", string(got), c.want)
	}
}

// The frames do not depend on how the bytes are split into parts.
func FuzzReader(f *testing.F) {
	f.Add(AppendGoAway(AppendSettings(nil, Setting{1, 2}), 3, NoError), uint64(1))
	f.Add(AppendFrame(nil, Frame{Data, Padded, 1, []byte(strings.Repeat("x", 300))}), uint64(2))
	f.Add([]byte("HTTP/1.1 200 OK\r\n"), uint64(3))
	f.Fuzz(func(t *testing.T, input []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		whole, partial, err := cut(input, len(input)+1)
		again, cutPartial, cutErr := cut(input, 1+rng.IntN(40))
		if fmt.Sprint(whole, partial, err) != fmt.Sprint(again, cutPartial, cutErr) {
			t.Fatalf("%x: %v, %v, %v; in pieces %v, %v, %v", input, whole, partial, err, again, cutPartial, cutErr)
		}
		for _, x := range whole {
			_, _ = x.Content()
			for range x.Values() {
			}
		}
	})
}
