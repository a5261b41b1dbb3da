package jsonstudy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

const (
	sdkPath     = "github.com/tarebench/tare"
	typePath    = sdkPath + "/contender/codec/document" // package of an inferred type
	skippedName = "left.json"                           // file with the codecs that do not support the type
)

// Bench builds JSON codecs for the type of the user's documents. It copies the catalog's codecs and the
// SDK, the packages of this repository that they import. It adds the type to the copy. Such a copy, in
// the cache, is called a bench.
type Bench struct {
	Cache string       // benches are in Cache/document
	Run   string       // tag of every process that is started; "" for none
	Log   func(string) // receives lines of progress; may be nil
}

// Catalog returns a catalog of the selected codecs, adapted to the type t, and the codecs that do not
// support the type. If user is nil, the type is inferred. Catalog reuses an earlier bench of the same
// content, unless a codec failed because of the machine.
func (b Bench) Catalog(ctx context.Context, source catalog.Catalog, t Type, user *UserType, only func(id string) bool) (catalog.Catalog, []tare.NotWeighed, error) {
	names := map[string]bool{} // needed modules, each with one codec or variants of one
	for _, leaf := range source.Leaves() {
		m := leaf.Manifest
		isNeeded := m.ID == Baseline || m.ID == tare.NullID
		isSelected := whyUnfit(m) == "" && slices.ContainsFunc(m.IDs(), only)
		if m.Kind == codec.Kind && (isNeeded || isSelected) {
			names[filepath.Base(leaf.Dir)] = true
		}
	}
	files, err := collectSources(source, names)
	if err != nil {
		return catalog.Catalog{}, nil, err
	}
	addType(files, t, user, names)
	parent := filepath.Join(b.Cache, "document")
	dir := filepath.Join(parent, benchKey(files, user))
	if !atomicfile.Sealed(dir) {
		if err := b.makeBench(ctx, parent, dir, files, t, user, names); err != nil {
			return catalog.Catalog{}, nil, err
		}
	}
	var unsupported []tare.NotWeighed
	text, err := os.ReadFile(filepath.Join(dir, skippedName))
	if err == nil {
		err = json.Unmarshal(text, &unsupported)
	}
	if err != nil {
		return catalog.Catalog{}, nil, fmt.Errorf("%w %s: %w", build.ErrCache, dir, err)
	}
	c, err := catalog.Open(dir)
	return c, unsupported, err
}

// collectSources returns the files of the SDK and of the named codecs.
func collectSources(source catalog.Catalog, names map[string]bool) (map[string]string, error) {
	root, err := source.Repository()
	switch {
	case errors.Is(err, catalog.ErrNone):
		return nil, fmt.Errorf("the catalog in %s has no SDK next to it to build codecs for a type with; name a complete repository, or measure with --op any", source.Dir)
	case err != nil:
		return nil, err
	}
	list, err := archive.Collect(root)
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	files := map[string]string{}
	for _, f := range list {
		leaf, isCodec := strings.CutPrefix(f.Path, "contenders/codec/")
		name, _, _ := strings.Cut(leaf, "/")
		if isCodec && names[name] || !strings.HasPrefix(f.Path, "contenders/") {
			files[f.Path] = string(f.Data)
		}
	}
	return files, nil
}

// addType adds the files by which codecs find the type, or a bridge to the user's (see bridgeName).
func addType(files map[string]string, t Type, user *UserType, names map[string]bool) {
	path := typePath
	if user == nil {
		files["contender/codec/document/document.go"] = "// Package document holds the type that was inferred from a user's documents.\npackage document\n\n" + t.Source
	} else {
		path = user.bridgePath()
		maps.Copy(files, user.bridgeFiles("own"))
	}
	files["contender/codec/own.go"] = fmt.Sprintf("package codec\n\nimport document %q\n\n"+
		"// documentTarget returns a function that makes a pointer to an empty document of the user's type.\nfunc documentTarget() func() any { return func() any { return new(document.%s) } }\n", path, rootName)
	for _, g := range generators(names) {
		if text, why := g.newFile(t); why == "" {
			files[g.contenderPath("user.go")] = text
			files[g.contenderPath("user/user.go")] = g.typesSource(t)
			if g.addsMethods {
				files[g.contenderPath("user/plain/plain.go")] = t.plainSource()
			}
		}
	}
}

// benchKey returns the name of a bench, a hash of its content.
func benchKey(files map[string]string, user *UserType) string {
	h := sha256.New()
	fmt.Fprintf(h, "tare.document/1\n")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256([]byte(files[name])))
	}
	if user != nil {
		fmt.Fprintf(h, "%s\n", user.fingerprint)
	}
	return hex.EncodeToString(h.Sum(nil))[:20]
}

// makeBench writes a bench to a temporary directory and renames it, so that no process sees a part. A
// sealed bench is reused by later runs.
func (b Bench) makeBench(ctx context.Context, parent, dir string, files map[string]string, t Type, user *UserType, names map[string]bool) error {
	tmp, err := makeTemp(parent, ".making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := gocmd.WriteAll(tmp, files); err != nil {
		return fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
	}
	run := gocmd.Go{Tag: b.Run}
	if user != nil {
		b.logLine("adding " + user.path + " to the codecs")
		if err := user.requireAll(ctx, run, tmp); err != nil {
			return err
		}
	}
	unsupported, isFinal := []tare.NotWeighed{}, true // isFinal: another run would have the same result
	for _, g := range generators(names) {
		_, why := g.newFile(t)
		if why == "" {
			b.logLine("generating " + g.name + "'s code for the type")
			err := g.runGenerator(ctx, run, tmp, t)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, build.ErrNoToolchain):
				return err
			case err != nil:
				why = err.Error()
				isFinal = isFinal && errors.As(err, new(unsupportedError))
			}
		}
		if why == "" {
			continue
		}
		unsupported = append(unsupported, tare.LeftContender(g.name, why))
		if err := os.RemoveAll(filepath.Join(tmp, filepath.FromSlash(g.contenderPath("")))); err != nil {
			return fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
		}
	}
	text, err := json.Marshal(unsupported)
	if err != nil {
		return err
	}
	if err := gocmd.WriteAll(tmp, map[string]string{skippedName: string(text)}); err != nil {
		return fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
	}
	if isFinal { // without a seal the next run makes the bench again
		if err := atomicfile.Seal(atomicfile.System{}, tmp); err != nil {
			return fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
		}
	}
	if err := atomicfile.Place(tmp, dir, atomicfile.Sealed); err != nil {
		return fmt.Errorf("%w %s: %w", build.ErrCache, dir, err)
	}
	return nil
}

// makeTemp makes a temporary directory in parent, which it makes, too.
func makeTemp(parent, prefix string) (dir string, err error) {
	if err = os.MkdirAll(parent, 0o755); err == nil {
		dir, err = os.MkdirTemp(parent, prefix)
	}
	if err != nil {
		return "", fmt.Errorf("%w %s: %w", build.ErrCache, parent, err)
	}
	return dir, nil
}

func (b Bench) logLine(text string) {
	if b.Log != nil {
		b.Log(text)
	}
}
