package workload

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

// Stores that a set can name. Databases have to be told where they are.
const (
	storeSQLite   = "sqlite"
	storePostgres = "postgres"
)

// EnvPostgres is the environment variable that says where a PostgreSQL server
// is, as a URL: postgres://user:password@127.0.0.1:5432/database.
const EnvPostgres = "TARE_POSTGRES"

// settings has a program keep the users that it will be asked for, in the store
// that the set names. A SQLite file is the trial's own, so one with a name is
// refused; what it is copied from is beside the study's inputs.
func settings(w wire.Workload, _ []server.Request, set map[string]string, dir string) error {
	own := strconv.Itoa(cmp.Or(w.N, storeUsers))
	if told := set[serving.SetUsers]; told != "" && told != own {
		return fmt.Errorf("%s: %s; a store has as many as the workload says, n: %s", serving.SetUsers, told, own)
	}
	set[serving.SetUsers] = own
	if file, named := strings.CutPrefix(set[serving.SetStore], storeSQLite+":"); named {
		return fmt.Errorf("%s: %s:%s; a file that is kept from trial to trial is in each as the one before left it; say %s, and every trial has a fresh one",
			serving.SetStore, storeSQLite, file, storeSQLite)
	}
	switch set[serving.SetStore] {
	case storeSQLite:
		file, err := newFile(dir)
		if err != nil {
			return err
		}
		set[serving.SetStore] = storeSQLite + ":" + file + "?template=" + filepath.Join(filepath.Dir(w.Input), "stores")
	case storePostgres:
		at := os.Getenv(EnvPostgres)
		if at == "" {
			return fmt.Errorf("%s: %s; %s does not say where one is, e.g. postgres://user@127.0.0.1:5432/database", serving.SetStore, storePostgres, EnvPostgres)
		}
		set[serving.SetStore] = storePostgres + ":" + at
	}
	return nil
}

// newFile is the name of a file in a directory of its own below dir; those of
// the workloads before are given up.
func newFile(dir string) (string, error) {
	const pattern = "store-*"
	old, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return "", err
	}
	for _, path := range old {
		_ = os.RemoveAll(path)
	}
	own, err := os.MkdirTemp(dir, pattern)
	return filepath.Join(own, "users.db"), err
}
