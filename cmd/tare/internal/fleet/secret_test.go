package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

func TestTokenIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	word := strings.Repeat("x", maxToken)
	for text, good := range map[string]bool{
		word[:15]: false, word[:16] + "\n": true, word + "\r\n": true, word + "x": false,
		word[:20] + strings.Repeat("\n", maxToken): false, word[:20] + "\n" + word[:20]: false,
	} {
		assert.NoError(t, "write", os.WriteFile(path, []byte(text), 0o600))
		if _, err := ReadToken(path); (err == nil) != good {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if _, err := ReadToken("/dev/zero"); err == nil {
		t.Error("a file without an end was read")
	}
}
