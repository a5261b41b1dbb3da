package tare_test

import (
	"encoding/json"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// A document has a list of one kind, as those of the first releases.
func TestKind(t *testing.T) {
	for text, kind := range map[string]tare.Kind{`["codec"]`: "codec", `[]`: ""} {
		var got tare.Kind
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Error(err)
		}
		assert.Equal(t, text, got, kind)
		written, err := json.Marshal(kind)
		assert.Equal(t, "error", err, nil)
		assert.Equal(t, "written", string(written), text)
	}
	for text, message := range map[string]string{
		`["codec", "server"]`: "kinds: 2 kinds; a study has one",
		`{}`:                  "kinds: json: cannot unmarshal object into Go value of type []string",
	} {
		var got tare.Kind
		if err := json.Unmarshal([]byte(text), &got); err == nil || err.Error() != message {
			t.Errorf("%s: %v", text, err)
		}
	}
}
