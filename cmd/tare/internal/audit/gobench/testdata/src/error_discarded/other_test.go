package error_discarded

import (
	"os"
	"path/filepath"
	"testing"
)

var setting string

func TestParseSetting(t *testing.T) {
	if _, err := parseSetting([]byte("a=1")); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkParseSettingOfFile(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "settings.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		setting, _ = parseSetting(text) // want `no function that checks it reads "settings.txt"`
	}
}

func BenchmarkParseSettingOfText(b *testing.B) {
	text := []byte("a=1")
	for b.Loop() {
		setting, _ = parseSetting(text)
	}
}
