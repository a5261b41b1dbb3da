// Package studyfile reads studies as users write them: YAML, strictly, with
// the line and column of everything that is wrong.
package studyfile

import (
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

// MaxBytes is how long a study file can be.
const MaxBytes = yamlfile.MaxBytes

// Error says where a study file is wrong, what is wrong there, and what would
// be right.
type Error = yamlfile.Error

// Positions knows where in its file each field of a study is.
type Positions = yamlfile.Positions

// reader reads the fields of a study.
type reader struct{ *yamlfile.Reader }

// Parse reads a study and validates it. name is the path of the file, for
// messages; relative paths in the study start at its directory. Every error
// is an *Error.
func Parse(name string, src []byte) (tare.Study, error) {
	s, _, err := Read(name, src)
	return s, err
}

// Read is Parse that also tells where each field is, for those who find
// something wrong with a study later.
func Read(name string, src []byte) (tare.Study, *Positions, error) {
	yr, root, err := yamlfile.Open(name, src, yamlfile.Format{Noun: "study", Begin: "begin with study: NAME"})
	if err != nil {
		return tare.Study{}, yr.Positions, err
	}
	r := &reader{yr}
	s := r.study(root)
	if r.Err != nil {
		return tare.Study{}, r.Positions, r.Err
	}
	s.Dir = filepath.Dir(name)
	err = s.Validate()
	if err == nil {
		err = measurable(s)
	}
	if err != nil {
		return tare.Study{}, r.Positions, r.Locate(err)
	}
	return s, r.Positions, nil
}
