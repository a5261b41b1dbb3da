package load

import (
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// A response of a stream has any number of messages, however they are split into parts.
func TestStreamOfMessages(t *testing.T) {
	prefixed := func(text string) string { return string([]byte{0, 0, 0, 0, byte(len(text))}) + text }
	for _, c := range []struct {
		text string
		body int64
		err  string
	}{
		{"", 0, ""}, {prefixed("abc"), 3, ""}, {prefixed("") + prefixed("") + prefixed("ab"), 2, ""}, {prefixed("abc") + prefixed("de"), 5, ""},
		{prefixed("abc")[:6], 1, "shorter than its prefix"}, {prefixed("abc") + "\x00\x00", 3, "shorter than its prefix"}, {prefixed("a") + "\x01\x00\x00\x00\x00", 1, "compressed"},
	} {
		for cut := 1; cut <= max(1, len(c.text)); cut++ {
			m := message{many: true}
			var err error
			for at := 0; at < len(c.text) && err == nil; at += cut {
				err = m.takeData([]byte(c.text[at:min(at+cut, len(c.text))]))
			}
			if err == nil {
				_, err = m.finish(0)
			}
			if c.err == "" {
				assert.NoError(t, c.text, err)
			} else {
				assert.ErrorContains(t, c.text, err, c.err)
			}
			assert.Equal(t, "bytes", m.body, c.body)
		}
	}
}

func TestCodeNames(t *testing.T) {
	assert.Equal(t, "0", CodeName(0), "OK")
	assert.Equal(t, "16", CodeName(16), "UNAUTHENTICATED")
	assert.Equal(t, "beyond", CodeName(99), "UNKNOWN")
}
