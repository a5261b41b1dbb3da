// Package build compiles contenders: programs, each with another library, that tare compares. [ReadLeaf] reads
// a contender's manifest. [Builder.Prepare] may change versions of modules. [Builder.Build] compiles it.
//
// Builds are cached by the content of their sources. A record next to the binary lists the modules that are
// really linked.
package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// ManifestName is the file that describes a contender, next to its sources.
const ManifestName = "contender.json"

// Manifest is contender.json, the description of a contender in its own folder.
type Manifest struct {
	ID       string      `json:"id"`
	Kind     string      `json:"kind"`               // codec, router, …
	Variants []string    `json:"variants,omitempty"` // configurations of one binary, each of which is a separate contender
	Trap     bool        `json:"trap,omitempty"`     // the contender reproduces a published mistake
	Expect   tare.Expect `json:"expect,omitzero"`    // the outcome that a trap must have
	Why      string      `json:"why,omitempty"`      // description, one line
	Modules  []string    `json:"modules,omitempty"`  // modules that must be linked: path, path@version or std:package; the first one names the contender
	Symbols  []string    `json:"symbols,omitempty"`  // parts of the names of functions that must be linked
	Layers   []string    `json:"layers,omitempty"`   // middleware

	VariantLayers  map[string][]string     `json:"variant_layers,omitempty"`  // middleware of variants, if it differs from Layers
	VariantAnswers map[string]tare.Answers `json:"variant_answers,omitempty"` // for variants that do a part of the work: the part of the answers that is compared

	Apps      []string `json:"apps,omitempty"`      // apps of a server
	Protocols []string `json:"protocols,omitempty"` // protocols of an rpc contender, the default first

	VariantProtocols map[string][]string `json:"variant_protocols,omitempty"` // protocols of variants, if they differ from Protocols

	Source string   `json:"source,omitempty"` // directory of another contender whose sources are built, e.g. ../gin; "" to build this one's
	Tags   []string `json:"tags,omitempty"`   // build tags

	Together bool `json:"together,omitempty"` // without a selected variant, the program serves what all its variants serve

	Unmaintained string `json:"unmaintained,omitempty"` // why the library counts as unmaintained, one line
}

// IDs returns the ids by which studies can list the contender: its id, or one id for each of its
// variants.
func (m Manifest) IDs() []string {
	if len(m.Variants) == 0 {
		return []string{m.ID}
	}
	ids := make([]string, len(m.Variants))
	for i, v := range m.Variants {
		ids[i] = m.VariantID(v)
	}
	return ids
}

// LayersOf returns the declared middleware of a variant.
func (m Manifest) LayersOf(variant string) []string {
	if layers, ok := m.VariantLayers[variant]; ok {
		return layers
	}
	return m.Layers
}

// ProtocolsOf returns the protocols of a variant.
func (m Manifest) ProtocolsOf(variant string) []string {
	if protocols, ok := m.VariantProtocols[variant]; ok {
		return protocols
	}
	return m.Protocols
}

// VariantID returns the id of a variant; "" means the contender itself.
func (m Manifest) VariantID(variant string) string {
	if variant == "" {
		return m.ID
	}
	return m.ID + "-" + variant
}

// Leaf is a contender's directory, with a main package and a manifest. It may have only a manifest, whose
// Source is another directory with the main package.
type Leaf struct {
	Dir      string // absolute directory of the manifest; the main package is in Src
	Manifest Manifest
	Go       string // toolchain to build the contender with, e.g. go1.25.5 or go1.26.8+jsonv2; "" means the installed one
}

// RealPath returns dir as an absolute path without symbolic links, because replacements in go.mod
// are relative to the real directory.
func RealPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil // dir does not exist: opening it will fail
}

// maxManifest limits a manifest, in bytes.
const maxManifest = 1 << 20

// ReadLeaf reads the manifest of the contender in dir. The error wraps fs.ErrNotExist if there is no
// manifest.
func ReadLeaf(dir string) (Leaf, error) {
	abs, err := RealPath(dir)
	if err != nil {
		return Leaf{}, fmt.Errorf("contender %s: %w", dir, err)
	}
	file := filepath.Join(dir, ManifestName)
	src, err := atomicfile.ReadFile(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Leaf{}, fmt.Errorf("no %s in %s: %w", ManifestName, dir, fs.ErrNotExist)
	}
	if err != nil {
		return Leaf{}, fmt.Errorf("reading a contender: %w", err)
	}
	m, err := parseManifest(src)
	if err != nil {
		return Leaf{}, fmt.Errorf("%s%w", file, err)
	}
	leaf := Leaf{Dir: abs, Manifest: m}
	if err := leaf.checkSourceDir(); err != nil {
		return Leaf{}, fmt.Errorf("%s%w", file, err)
	}
	return leaf, nil
}

// parseManifest parses and checks a manifest. Errors begin with ":line:col: " or ": ", so that a file name can
// precede them.
func parseManifest(src []byte) (Manifest, error) {
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, manifestError(src, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return m, manifestError(src, d.InputOffset(), errors.New("more than one value"))
	}
	switch {
	case m.ID == "":
		return m, errors.New(`: no id; e.g. "id": "encoding-json"`)
	case m.Kind == "":
		return m, errors.New(`: no kind; e.g. "kind": "codec"`)
	case m.ID == tare.ControlID:
		return m, fmt.Errorf(": id %q is reserved", m.ID)
	case !m.Trap && !m.Expect.IsZero():
		return m, errors.New(`: expect without "trap": true; only a trap may be expected to come out void`)
	}
	if strings.ContainsAny(m.Unmaintained, "\r\n") {
		return m, errors.New(": unmaintained is one line")
	}
	if err := m.checkVariants(); err != nil {
		return m, err
	}
	for _, list := range []struct {
		element string
		names   []string
	}{{"app", m.Apps}, {"protocol", m.Protocols}} {
		for i, name := range list.names {
			if name == "" || slices.Contains(list.names[:i], name) {
				return m, fmt.Errorf(": %s %q is listed twice, or without a name", list.element, name)
			}
		}
	}
	return m, m.checkSource()
}

// checkVariants checks the variants and the fields about them. Its errors begin with ": ".
func (m Manifest) checkVariants() error {
	for v := range m.VariantLayers {
		if !slices.Contains(m.Variants, v) {
			return fmt.Errorf(": variant_layers of %q, which is not one of its variants", v)
		}
	}
	for v, protocols := range m.VariantProtocols {
		switch {
		case !slices.Contains(m.Variants, v):
			return fmt.Errorf(": variant_protocols of %q, which is not one of its variants", v)
		case len(protocols) == 0:
			return fmt.Errorf(": variant_protocols of %s is empty; it speaks something", v)
		}
	}
	for v, answers := range m.VariantAnswers {
		switch {
		case !slices.Contains(m.Variants, v):
			return fmt.Errorf(": variant_answers of %q, which is not one of its variants", v)
		case answers != tare.AnswersStatus:
			return fmt.Errorf(": variant_answers %q of %s; known: %s", answers, v, tare.AnswersStatus)
		}
	}
	for i, v := range m.Variants {
		if v == "" {
			return errors.New(": a variant without a name")
		}
		if slices.Contains(m.Variants[:i], v) {
			return fmt.Errorf(": variant %q is listed twice", v)
		}
	}
	return nil
}

// manifestError returns err without the words of package json and with its position in src. offset
// is the position if err has none.
func manifestError(src []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed):
		offset = typed.Offset
		err = fmt.Errorf("%s is a %s, not a %s", typed.Field, typed.Value, typed.Type)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset, err = int64(len(src)), errors.New("the file ends too early")
	default:
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	offset = min(max(offset, 0), int64(len(src)))
	before := src[:offset]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := max(1, len(before)-bytes.LastIndexByte(before, '\n')-1)
	return fmt.Errorf(":%d:%d: %w", line, col, err)
}
