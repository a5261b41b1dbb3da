package cli

import (
	"path/filepath"
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "30d": 30 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute} {
		if got, err := age(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "0d", "-1d", "1.5d", "d", "0s", "-3h", "99999999d"} {
		if _, err := age(text); code(err) != ExitUsage {
			t.Errorf("%q is an age: %v", text, err)
		}
	}
}

func TestDirectoriesThatAreNotOurs(t *testing.T) {
	home := t.TempDir()
	for dir, refused := range map[string]bool{
		string(filepath.Separator): true, home: true, filepath.Join(home, "tare"): false, filepath.Join(home, "nowhere", "tare"): false,
	} {
		if err := ours("TARE_CACHE", dir, home); (err != nil) != refused {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
