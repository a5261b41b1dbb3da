package serving

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// TestSettings: a house is as it is set, and under a lab without a limit it has no clock.
func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		set     map[string]string
		lab     bool
		devices int
		rate    int
		clock   bool
		origins []string
		check   string
	}{
		{lab: true, devices: 50},
		{lab: false, devices: 50, rate: 500, clock: true},
		{set: map[string]string{SetDevices: "7", SetRateLimit: "60", SetOrigins: "http://a,https://b:8"}, lab: true, devices: 7, rate: 60, clock: true, origins: []string{"http://a", "https://b:8"}},
		{set: map[string]string{SetDevices: "1", SetRateLimit: "off", SetOrigins: "*"}, devices: 1, clock: true, origins: []string{"*"}},
		{set: map[string]string{SetOrigins: "nowhere"}, check: `"nowhere" is no origin`},
	} {
		var house *homelab.House
		made := App(func(_ server.Options, h *homelab.House) (server.Server, error) {
			house = h
			return nil, nil
		}).New()
		for _, s := range made.Settings() {
			value, ok := tt.set[s.Name]
			switch {
			case ok:
			case tt.lab:
				value = s.Measured
			default:
				value = s.Default
			}
			if err := s.Set(value); err != nil {
				t.Fatal(err)
			}
		}
		if err := made.Check(); tt.check != "" {
			if err == nil || !strings.Contains(err.Error(), tt.check) {
				t.Errorf("%v: %v", tt.set, err)
			}
			if _, err := made.Open(tt.lab); err == nil {
				t.Errorf("%v: it opens", tt.set)
			}
			continue
		} else if err != nil {
			t.Error(err)
		}
		s, err := made.Open(tt.lab)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Make(server.Options{}); err != nil {
			t.Fatal(err)
		}
		c := made.(*config)
		if len(house.Devices()) != tt.devices || house.Limited() != (tt.rate > 0) || c.Rate != tt.rate || (c.Now != nil) != tt.clock || !slices.Equal(c.Origins, tt.origins) {
			t.Errorf("%+v: %d devices, %+v", tt, len(house.Devices()), c.Config)
		}
	}
}
