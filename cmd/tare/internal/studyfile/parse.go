// Package studyfile reads studies in YAML. It rejects unknown keys and wrong types, and reports the
// line and column of each error.
package studyfile

import (
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

// MaxBytes limits the size of a study file.
const MaxBytes = yamlfile.MaxBytes

// Error is an error with its position in a study file, and a hint.
type Error = yamlfile.Error

// Positions maps each field of a study to its position in the file.
type Positions = yamlfile.Positions

// reader reads the fields of a study. Each method records its first error in Err.
//
// The methods have three forms. readX(n, path) decodes the YAML node n, the value of the field at path
// (such as "contenders[0].url"). takeX(dst) returns a Take: a function of n and path that decodes n
// into *dst. Mapping calls it if the file has the key. checkX records an error if a decoded value is
// invalid.
//
// Positions for errors come from the embedded Reader. Of returns the position of a node. Where and At
// return that of the field at a path, and At also whether the file has it. Put records the position of
// a field, which Mapping and List do for their fields. Fail records an error at a position. Want
// records that a node has the wrong type.
type reader struct{ *yamlfile.Reader }

// Parse reads and validates a study. name is the path of the file, for messages; paths in the study are
// relative to its directory. Every error is an *[Error].
func Parse(name string, src []byte) (tare.Study, error) {
	s, _, err := Read(name, src)
	return s, err
}

// Read is [Parse], and also returns the positions of the fields, for later errors. They are not nil.
func Read(name string, src []byte) (tare.Study, *Positions, error) {
	yr, root, err := yamlfile.Open(name, src, yamlfile.Format{Noun: "study", Begin: "begin with study: NAME"})
	if err != nil {
		return tare.Study{}, yr.Positions, err
	}
	r := &reader{yr}
	s := r.readStudy(root)
	if r.Err != nil {
		return tare.Study{}, r.Positions, r.Err
	}
	s.Dir = filepath.Dir(name)
	err = s.Validate()
	if err == nil {
		err = checkMeasurable(s)
	}
	if err != nil {
		return tare.Study{}, r.Positions, r.Locate(err)
	}
	return s, r.Positions, nil
}
