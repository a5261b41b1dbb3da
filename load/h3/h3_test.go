package h3

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// frame is a complete frame.
type frame struct {
	kind    uint64
	payload string
}

// cutFrames reads the frames of input, which arrives in parts of at most size bytes.
func cutFrames(input []byte, size int) (frames []frame, partial bool) {
	r := new(Reader)
	for len(input) > 0 {
		b := bytes.Clone(input[:min(size, len(input))])
		input = input[len(b):]
		for len(b) > 0 {
			p, n, ok := r.Next(b)
			b = b[n:]
			switch {
			case !ok:
			case p.First:
				frames = append(frames, frame{p.Type, string(p.Payload)})
			default:
				frames[len(frames)-1].payload += string(p.Payload)
			}
		}
	}
	return frames, r.IsPartial()
}

func TestVarints(t *testing.T) {
	// RFC 9000, appendix A.1.
	for text, want := range map[string]uint64{"\xc2\x19\x7c\x5e\xff\x14\xe8\x8c": 151288809941952652, "\x9d\x7f\x3e\x7d": 494878333, "\x7b\xbd": 15293, "\x25": 37, "\x40\x25": 37} {
		n, size := ReadVarint([]byte(text + "x"))
		assert.Equal(t, fmt.Sprintf("%x", text), fmt.Sprint(n, size), fmt.Sprint(want, len(text)))
		_, size = ReadVarint([]byte(text[:len(text)-1]))
		assert.Equal(t, "size of a part", size, 0)
	}
	for _, n := range []uint64{0, 63, 64, 16383, 16384, 1<<30 - 1, 1 << 30, 1<<62 - 1} {
		got, size := ReadVarint(AppendVarint(nil, n))
		assert.Equal(t, "value", got, n)
		assert.Equal(t, "size", size, len(AppendVarint(nil, n)))
	}
}

func TestFrames(t *testing.T) {
	var input []byte
	want := []frame{{Headers, "head"}, {Data, ""}, {Data, strings.Repeat("x", 20_000)}, {1 << 40, "unknown"}, {Data, "end"}}
	for _, f := range want {
		input = AppendFrame(input, f.kind, []byte(f.payload))
	}
	for _, size := range []int{1, 2, 3, 7, 16, 17, 1000, len(input)} {
		got, partial := cutFrames(input, size)
		assert.Equal(t, fmt.Sprintf("frames in pieces of %d", size), fmt.Sprint(got), fmt.Sprint(want))
		assert.Equal(t, "partial", partial, false)
		_, partial = cutFrames(input[:len(input)-1], size)
		assert.Equal(t, "partial at the end", partial, true)
	}
}

// readSection returns the fields of a section, one per line.
func readSection(d *Decoder, section []byte) (string, error) {
	var b strings.Builder
	err := d.Decode(section, func(name, value []byte) error {
		fmt.Fprintf(&b, "%s: %s\n", name, value)
		return nil
	})
	return b.String(), err
}

func TestSections(t *testing.T) {
	section := AppendSectionPrefix(nil)
	section = AppendField(section, ":method", "GET")
	section = AppendField(section, "x-frame-options", "sameorigin") // index 98, of two bytes
	section = AppendLiteral(section, ":path", "/"+strings.Repeat("a", 300))
	section = AppendField(section, "user-agent", "tare") // index 95 of a name, of two bytes
	section = AppendField(section, "a-name-that-is-in-no-table", "")
	got, err := readSection(new(Decoder), section)
	assert.NoError(t, "section", err)
	assert.Equal(t, "fields", got, ":method: GET\nx-frame-options: sameorigin\n:path: /"+strings.Repeat("a", 300)+"\nuser-agent: tare\na-name-that-is-in-no-table: \n")
	assert.Equal(t, "names", fmt.Sprint(static[24], static[62], static[63], static[71], static[98]),
		"[:status 103] [x-xss-protection 1; mode=block] [:status 100] [:status 500] [x-frame-options sameorigin]")

	// RFC 9204, appendix B.1: a literal with an indexed name.
	got, err = readSection(new(Decoder), []byte("\x00\x00\x51\x0b/index.html"))
	assert.NoError(t, "appendix B.1", err)
	assert.Equal(t, "appendix B.1", got, ":path: /index.html\n")
	// RFC 7541, appendix C.4.1: the Huffman code of www.example.com, as name and as value.
	huffman := "\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"
	got, err = readSection(new(Decoder), []byte("\x00\x00\x2f\x05"+huffman+"\x8c"+huffman))
	assert.NoError(t, "Huffman code", err)
	assert.Equal(t, "Huffman code", got, "www.example.com: www.example.com\n")
}

func TestInvalidSections(t *testing.T) {
	for section, want := range map[string]string{
		"":                         "cut off",
		"\x00":                     "cut off",
		"\x02\x00\x80":             "dynamic table",
		"\x00\x00\x80":             "dynamic table", // indexed
		"\x00\x00\x10":             "dynamic table", // indexed after the base
		"\x00\x00\x40\x00":         "dynamic table", // name in the table
		"\x00\x00\x00\x00":         "dynamic table", // name in the table, after the base
		"\x00\x00\xff\x24":         "the static table does not have",
		"\x00\x00\x5f\x54\x00":     "the static table does not have",
		"\x00\x00\x51\x05abc":      "longer than its field section",
		"\x00\x00\x51":             "cut off",
		"\x00\x00\x27\x7fab":       "longer than its field section",
		"\x00\x00\x51\x82\xff\xff": "no Huffman code",
		"\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff": "too large",
	} {
		_, err := readSection(new(Decoder), []byte(section))
		assert.ErrorContains(t, fmt.Sprintf("%x", section), err, want)
	}
}

// feedPeer feeds each text to a separate stream, in parts of at most size bytes.
func feedPeer(p *Peer, size int, texts ...string) error {
	for _, text := range texts {
		if err := p.AddStream(); err != nil {
			return err
		}
		s := p.NewStream()
		text, ends := strings.CutSuffix(text, "END")
		for text != "" {
			n := min(size, len(text))
			known, err := s.Feed([]byte(text[:n]))
			if err != nil {
				return err
			}
			if text = text[n:]; !known {
				text = ""
			}
		}
		if ends {
			if err := s.End(); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestPeerStreams(t *testing.T) {
	const settings = "\x00\x04\x04\x01\x00\x06\x0a" // of the control stream: table 0, section 10
	for _, size := range []int{1, 3, 100} {
		p := new(Peer)
		err := feedPeer(p, size, settings+"\x21\x03abc\x07\x01\x08", "\x02\x20", "\x03\x84", "\x40\x54greaseEND", "END", "\x40END")
		assert.NoError(t, "streams of a polite server", err)
		last, leaves := p.Leaves()
		assert.Equal(t, "GOAWAY", fmt.Sprint(last, leaves), "8 true")
		for want, texts := range map[string][]string{
			"H3_MISSING_SETTINGS":        {"\x00\x07\x01\x00"},
			"H3_FRAME_UNEXPECTED":        {settings + "\x04\x00"},
			"H3_SETTINGS_ERROR":          {"\x00\x04\x04\x06\x00\x06\x00"},
			"H3_FRAME_ERROR":             {"\x00\x04\x01\x06"},
			"H3_ID_ERROR":                {"\x01"},
			"H3_STREAM_CREATION_ERROR":   {settings, "\x00"},
			"H3_CLOSED_CRITICAL_STREAM":  {settings + "END"},
			"QPACK_ENCODER_STREAM_ERROR": {"\x02\x3f\xe1\x1f"},
			"H3_EXCESSIVE_LOAD":          {settings + "\x21\x80\x10\x00\x00" + strings.Repeat("x", 1<<20)},
		} {
			var wrong *ConnectionError
			err := feedPeer(new(Peer), size, texts...)
			if e, ok := err.(*ConnectionError); ok {
				wrong = e
			}
			if wrong == nil || wrong.Code.String() != want {
				t.Errorf("%.40q: %v, want %s", texts, err, want)
			}
		}
		for text, want := range map[string]string{
			settings + "\x00\x00":                 "H3_FRAME_UNEXPECTED", // DATA
			settings + "\x02\x00":                 "H3_FRAME_UNEXPECTED", // of HTTP/2
			"\x00\x04\x50\x01":                    "H3_EXCESSIVE_LOAD",   // SETTINGS of 4,097 bytes
			settings + "\x03\x01\x00":             "H3_ID_ERROR",         // CANCEL_PUSH
			settings + "\x07\x01\x02":             "H3_ID_ERROR",
			settings + "\x07\x01\x04\x07\x01\x08": "H3_ID_ERROR", // a higher number
			settings + "\x07\x09":                 "H3_FRAME_ERROR",
			settings + "\x07\x02\x00\x00":         "H3_FRAME_ERROR",
			"\x00\x04\x02\x02\x00":                "H3_SETTINGS_ERROR", // of HTTP/2
		} {
			err, ok := feedPeer(new(Peer), size, text).(*ConnectionError)
			if !ok || err.Code.String() != want {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
		}
	}
	many := make([]string, maxStreams+1)
	for i := range many {
		many[i] = "\x21"
	}
	assert.ErrorContains(t, "a flood of streams", feedPeer(new(Peer), 1, many...), "too many unidirectional streams")
}

func TestControlStream(t *testing.T) {
	b := ControlStream(1 << 18)
	assert.Equal(t, "control stream", fmt.Sprintf("%x", b), "0004050680040000")
	assert.NoError(t, "as a server's", feedPeer(new(Peer), 1, string(b)))
	assert.Equal(t, "codes", fmt.Sprint(NoError, RequestRejected, EncoderStreamError, Code(0x111), Code(7)),
		"H3_NO_ERROR H3_REQUEST_REJECTED QPACK_ENCODER_STREAM_ERROR error code 0x111 error code 0x7")
}

// The frames do not depend on how the bytes are split into parts.
func FuzzFrames(f *testing.F) {
	f.Add(AppendFrame(AppendFrame(nil, Headers, []byte("head")), Data, make([]byte, 100)), uint64(1))
	f.Add([]byte("\xc0\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff"), uint64(2))
	f.Fuzz(func(t *testing.T, input []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want, partial := cutFrames(input, len(input)+1)
		got, cut := cutFrames(input, 1+rng.IntN(40))
		if fmt.Sprint(want, partial) != fmt.Sprint(got, cut) {
			t.Fatalf("%x: %v, %v; in pieces %v, %v", input, want, partial, got, cut)
		}
	})
}

// A decoded section is the same after it is encoded and decoded again.
func FuzzSections(f *testing.F) {
	f.Add(AppendField(AppendLiteral(AppendSectionPrefix(nil), ":path", "/x"), ":status", "200"))
	f.Add([]byte("\x00\x00\x2f\x05\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff\x00"))
	f.Fuzz(func(t *testing.T, section []byte) {
		again := AppendSectionPrefix(nil)
		d, total := new(Decoder), 0
		err := d.Decode(section, func(name, value []byte) error {
			again = AppendField(again, string(name), string(value))
			total += len(name) + len(value)
			return nil
		})
		if total > 80*len(section) {
			t.Fatalf("%x: %d bytes of fields", section, total)
		}
		if err != nil {
			return
		}
		got, err := readSection(d, again)
		want, _ := readSection(d, section)
		if err != nil || got != want {
			t.Fatalf("%x: %q, then %q, %v", section, want, got, err)
		}
	})
}

// The meaning of unidirectional streams does not depend on how their bytes are split into parts.
func FuzzPeer(f *testing.F) {
	f.Add("\x00\x04\x04\x01\x00\x06\x0a\x21\x03abc\x07\x01\x08", "\x02\x20", uint64(1))
	f.Add("\x40\x00\x04\x00", "\x03\x00", uint64(2))
	f.Fuzz(func(t *testing.T, one, other string, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p, cut := new(Peer), new(Peer)
		want := fmt.Sprint(feedPeer(p, 1<<20, one, other))
		got := fmt.Sprint(feedPeer(cut, 1+rng.IntN(40), one, other))
		if want != got || p.leaves != cut.leaves || p.last != cut.last {
			t.Fatalf("%q, %q: %s, %+v; in pieces %s, %+v", one, other, want, p, got, cut)
		}
	})
}
