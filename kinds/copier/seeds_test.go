package copier_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	sdk "github.com/tarebench/tare/contender/copier"
)

// readSeeds reads an input file.
func readSeeds(t *testing.T, path string) []uint64 {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []uint64
	for line := range strings.Lines(string(file)) {
		var b sdk.Body
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			t.Fatal(err)
		}
		list = append(list, b.Seed)
	}
	return list
}
