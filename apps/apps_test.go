package apps

import (
	"slices"
	"testing"

	"github.com/tarebench/tare/contender/server"
)

// TestSettingsAreSound: settings have help, defaults that they take, and names that
// no flag of all services has.
func TestSettingsAreSound(t *testing.T) {
	taken := []string{server.SetLog, server.SetLogFile, server.SetTLSCert, server.SetTLSKey, "app", "addr", "variant", "face"}
	for _, a := range All() {
		seen := slices.Clone(taken)
		for _, s := range a.Settings() {
			if slices.Contains(seen, s.Name) || s.Help == "" {
				t.Errorf("%s: %+v", a.Name, s)
			}
			seen = append(seen, s.Name)
			for _, value := range []string{s.Default, s.Measured} {
				if err := s.Set(value); err != nil {
					t.Errorf("%s: %s: %v", a.Name, s.Name, err)
				}
			}
		}
		if a.Name == "" || a.Stack == "" || a.What == "" {
			t.Errorf("%+v", a)
		}
	}
	if s := (App{}).Settings(); s != nil {
		t.Errorf("an app that is not listed has %v", s)
	}
}
