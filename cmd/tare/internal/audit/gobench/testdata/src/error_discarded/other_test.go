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

// readLines reads a file of the test data.
func readLines(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkParseLines(b *testing.B) {
	text := readLines(b, "testdata/lines.txt")
	for b.Loop() {
		setting, _ = parseLine(text) // want `no function that checks it reads "testdata/lines.txt"`
	}
}

func BenchmarkParseLongLine(b *testing.B) {
	text := []byte("long=1")
	for b.Loop() {
		if _, err := parseLine(text); err != nil {
			b.Fatal(err)
		}
	}
}

var knownSettings, allSettings = []string{"a=1"}, []string{"a=1", "# b"}

func TestParseKnownSettings(t *testing.T) {
	for _, text := range knownSettings {
		if _, err := parseSetting([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkParseKnownSettings(b *testing.B) {
	for b.Loop() {
		for _, text := range knownSettings {
			setting, _ = parseSetting([]byte(text))
		}
	}
}

func BenchmarkParseAllSettings(b *testing.B) {
	for b.Loop() {
		for _, text := range allSettings {
			setting, _ = parseSetting([]byte(text)) // want `no function that checks it reads allSettings`
		}
	}
}

var text []byte

func BenchmarkParseSetText(b *testing.B) {
	text = []byte("a=1")
	for b.Loop() {
		setting, _ = parseSetting(text)
	}
}
