package cli

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/object"
)

func TestPlatformOf(t *testing.T) {
	for out, want := range map[string]string{
		"z_cgocopy.go":             "z_cgocopy: ",
		"sub/z_cgocopy_linux.go":   "z_cgocopy: linux",
		"z_cgocopy_linux_amd64.go": "z_cgocopy: linux && amd64",
		"z_cgocopy_arm64.go":       "z_cgocopy: arm64",
		"z_amd64_linux.go":         "z_amd64: linux",
		"z_linux_windows_amd64.go": "z_linux: windows && amd64",
		"z_unix.go":                "z_unix: ",
		"linux.go":                 "linux: ",
		"z_linux_amd64_devices.go": "z_linux_amd64_devices: ",
		"z_linux_amd64_arm64.go":   "z_linux_amd64: arm64",
	} {
		before, named := platformOf(out)
		if got := before + ": " + named; got != want {
			t.Errorf("%s: %s, want %s", out, got, want)
		}
	}
	if a, b := unitName("z_devices_linux_arm64.go"), unitName("z_devices.go"); a != b || a != "Devices" {
		t.Errorf("%s, %s", a, b)
	}
}

// TestFits checks that files for one machine are not generated from the layout of another.
func TestFits(t *testing.T) {
	elf, pe, macho := &object.File{Arch: "amd64"}, &object.File{Arch: "amd64", OS: "windows"}, &object.File{Arch: "arm64", OS: "darwin"}
	for _, tt := range []struct {
		out, build string
		f          *object.File
		fits       bool
	}{
		{"z.go", "", elf, true},
		{"z.go", "", pe, true},
		{"z.go", "cgo && !purego", elf, true},
		{"z.go", "!cgo", elf, true},
		{"z.go", "amd64", elf, true},
		{"z.go", "!amd64", elf, false},
		{"z.go", "arm64 || 386", elf, false},
		{"z.go", "arm64 || amd64", elf, true},
		{"z.go", "!(arm64 && linux)", elf, true},
		{"z.go", "windows", elf, false},
		{"z.go", "!windows", elf, true},
		{"z.go", "!linux", elf, true},
		{"z.go", "unix", pe, false},
		{"z.go", "darwin", macho, true},
		{"z.go", "linux && arm64", macho, false},
		{"z_linux_arm64.go", "", elf, false},
		{"z_linux_amd64.go", "", elf, true},
		{"z_windows_amd64.go", "", pe, true},
		{"z_windows.go", "", elf, false},
		{"z_freebsd.go", "", &object.File{}, true},
	} {
		o := options{out: tt.out, build: tt.build}
		if err := o.checkTarget(tt.f); (err == nil) != tt.fits {
			t.Errorf("%s %q, %+v: %v", tt.out, tt.build, tt.f, err)
		}
	}
	err := options{out: "z_linux_arm64.go"}.checkTarget(elf)
	if err == nil || !strings.Contains(err.Error(), "z_linux_arm64.go is for linux && arm64, and the compiler makes code for amd64") {
		t.Error(err)
	}
}
