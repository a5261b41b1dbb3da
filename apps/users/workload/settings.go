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

// Stores without an address, which applySettings adds.
const (
	storeSQLite   = "sqlite"
	storePostgres = "postgres"
)

// EnvPostgres is the environment variable with the URL of a PostgreSQL server:
// postgres://user:password@127.0.0.1:5432/database.
const EnvPostgres = "TARE_POSTGRES"

// applySettings adds the number of users and the store's address. A SQLite file is new in dir for each trial,
// so a study cannot name it. Its template is next to the inputs.
func applySettings(w wire.Workload, _ []server.Request, set map[string]string, dir string) error {
	count := strconv.Itoa(cmp.Or(w.N, storeUsers))
	if setting := set[serving.SetUsers]; setting != "" && setting != count {
		return fmt.Errorf("%s: %s; a store has as many as the workload says, n: %s", serving.SetUsers, setting, count)
	}
	set[serving.SetUsers] = count
	if file, hasFile := strings.CutPrefix(set[serving.SetStore], storeSQLite+":"); hasFile {
		return fmt.Errorf("%s: %s:%s; each trial would find the users that the trial before left in the file; write %s, which gives every trial a new file",
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
		url := os.Getenv(EnvPostgres)
		if url == "" {
			return fmt.Errorf("%s: %s; set %s to the URL of a server, e.g. postgres://user@127.0.0.1:5432/database", serving.SetStore, storePostgres, EnvPostgres)
		}
		set[serving.SetStore] = storePostgres + ":" + url
	}
	return nil
}

// newFile returns a path in a new directory below dir. It removes earlier ones.
func newFile(dir string) (string, error) {
	const pattern = "store-*"
	old, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return "", err
	}
	for _, path := range old {
		_ = os.RemoveAll(path)
	}
	storeDir, err := os.MkdirTemp(dir, pattern)
	return filepath.Join(storeDir, "users.db"), err
}
