package users_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/users"
)

func Example() {
	ctx := context.Background()
	store, err := users.Open(ctx, users.MemoryStore, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	now := func() time.Time { return time.Date(2025, time.May, 1, 9, 0, 0, 0, time.UTC) }
	service := users.New(users.Config{Now: now}, store)

	u, err := service.Create(ctx, users.Draft{Name: " Ada Lovelace ", Email: "Ada@Example.org"})
	fmt.Println(u.ID, u.Name, u.Email, err)

	_, err = service.Update(ctx, users.FirstID, users.Draft{Name: "Somebody", Email: "ada@example.org"})
	var refusal *users.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.HTTP(), refusal.Code.GRPC(), refusal)
	}

	page, err := service.List(ctx, users.Query{Text: "LOVELACE"})
	fmt.Println(page.Total, page.Users[0].CreatedAt, err)
	// Output:
	// 300001000 Ada Lovelace ada@example.org <nil>
	// 409 6 already_exists: the e-mail is taken
	// 1 2025-05-01 09:00:00 +0000 UTC <nil>
}
