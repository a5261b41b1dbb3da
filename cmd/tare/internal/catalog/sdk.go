package catalog

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tarebench/tare/internal/build"
)

// unpublished is the version that contender modules require if a replacement sets the SDK.
const unpublished = "v0.0.0"

// SDK returns the directory of the SDK that contenders elsewhere are built with: the one around c,
// which c's own are built with, else the one in this binary.
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

// SDKVersion returns the version of the SDK that this binary was made with, and whether it is
// published: that of a binary made in the repository is not.
func SDKVersion() (version string, published bool) {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

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
