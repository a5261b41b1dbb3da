package catalog

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tarebench/tare/internal/build"
)

// The SDK is the Go module that contenders, programs to compare, import to speak to tare.

// unpublished is the version of the SDK in a go.mod that replaces the SDK.
const unpublished = "v0.0.0"

// SDK returns the directory of the SDK with which contenders outside of the repository are built. It is
// the repository that contains c, or else the SDK in this binary, unpacked into the directory cache.
func SDK(c Catalog, cache string) (string, error) {
	if root, err := c.Repository(); !errors.Is(err, ErrNone) {
		return root, err
	}
	carried, err := Carried(cache)
	if err != nil {
		return "", err
	}
	root, err := carried.Repository()
	if errors.Is(err, ErrNone) {
		return "", fmt.Errorf("%w %s: there is no SDK in it", build.ErrCache, carried.Dir)
	}
	return root, err
}

// SDKVersion returns the version of the SDK with which this binary was built, and whether that version
// is published.
func SDKVersion() (version string, published bool) {
	info, _ := debug.ReadBuildInfo()
	return findVersion(info)
}

// findVersion returns the version of the SDK in the build information of a binary, which may be nil.
func findVersion(info *debug.BuildInfo) (version string, published bool) {
	if info == nil {
		return unpublished, false
	}
	for _, m := range info.Deps {
		if m.Path == modulePath && m.Replace == nil && m.Sum != "" {
			return m.Version, true
		}
	}
	return unpublished, false
}
