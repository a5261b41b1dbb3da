package catalog

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tarebench/tare/internal/build"
)

// unpublished is the version of the SDK in a go.mod whose replace directive sets the SDK.
const unpublished = "v0.0.0"

// SDK returns the directory of the SDK with which contenders outside of a repository are
// built: that of the repository around c, else the one in this binary.
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

// SDKVersion returns the version of the SDK with which this binary was built, and whether it
// is published. A binary that was built in the repository has no published version.
func SDKVersion() (version string, published bool) {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

// versionIn returns the version of the SDK in the build information of a binary, nil if it
// has none.
func versionIn(info *debug.BuildInfo) (version string, published bool) {
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
