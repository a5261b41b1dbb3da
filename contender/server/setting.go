package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Setting is one setting of an app. Without a lab its value comes from a flag or the environment; in a study
// from the workload's set.
type Setting struct {
	Name     string // of the flag, and key of a set, e.g. max-body
	Default  string // value without a lab
	Measured string // value in a study, unless the workload's set has one
	Help     string // one line; the placeholder of the value is in back quotes

	Set func(value string) error // stores the value in the setting's [Config]
}

// Chosen returns a setting with the same default without a lab and in a study.
func Chosen(name, value, help string, set func(value string) error) Setting {
	return Setting{Name: name, Default: value, Measured: value, Help: help, Set: set}
}

// Env returns the environment variable of the setting, e.g. TARE_MAX_BODY.
func (s Setting) Env() string {
	return "TARE_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Switch reports whether the setting is only on or off: its help names no value.
func (s Setting) Switch() bool {
	return (s.Default == On || s.Default == Off) && !strings.Contains(s.Help, "`")
}

// setValue sets value. An error is one line.
func (s Setting) setValue(value string) error {
	if err := s.Set(value); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Values of switches.
const (
	On  = "on"
	Off = "off"
)

// setDefaults sets every setting to its default: that of a study if lab is set, else that of a program without
// a lab.
func setDefaults(list []Setting, lab bool) error {
	for _, s := range list {
		value := s.Default
		if lab {
			value = s.Measured
		}
		if err := s.setValue(value); err != nil {
			return err
		}
	}
	return nil
}

// Text returns a function that sets any text.
func Text(into *string) func(string) error {
	return func(text string) error {
		*into = text
		return nil
	}
}

// Number returns a function that sets a whole number from least to most.
func Number(into *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
		}
		*into = n
		return nil
	}
}

// Rate returns a function that sets a number of requests; off sets zero, which is no limit.
func Rate(into *int) func(string) error {
	number := Number(into, 0, 1_000_000_000)
	return func(text string) error {
		if text == Off {
			text = "0"
		}
		return number(text)
	}
}

// Size returns a function that sets a number of bytes, which may have a unit.
func Size(into *int64, least int64) func(string) error {
	return func(text string) error {
		digits, unit := text, int64(1)
		for _, u := range []struct {
			name  string
			bytes int64
		}{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}} {
			if d, ok := strings.CutSuffix(text, u.name); ok {
				digits, unit = strings.TrimSpace(d), u.bytes
				break
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < least {
			return fmt.Errorf("%q is no number of bytes, such as 1048576 or 1MiB", text)
		}
		*into = n * unit
		return nil
	}
}

// Duration returns a function that sets a time limit; off sets zero.
func Duration(into *time.Duration) func(string) error {
	return func(text string) error {
		if *into = 0; text == Off {
			return nil
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is neither off nor a duration, such as 30s", text)
		}
		*into = d
		return nil
	}
}

// Switched returns a function that sets a switch.
func Switched(into *bool) func(string) error {
	return func(text string) error {
		switch text {
		case On, "true", "1":
			*into = true
		case Off, "false", "0":
			*into = false
		default:
			return fmt.Errorf("%q is neither on nor off", text)
		}
		return nil
	}
}

// SetToken is the name of [BearerToken].
const SetToken = "token"

// BearerToken returns the setting of a service's [Service.Token].
func BearerToken(into *string) Setting {
	return Chosen(SetToken, "", "`secret` that requests must carry as Authorization: Bearer; empty: none", Text(into))
}
