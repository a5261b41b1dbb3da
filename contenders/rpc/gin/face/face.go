// Package face serves users over HTTP, by gin.
package face

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// New is the face.
func New() rpc.Face {
	return rpc.Face{Serve: serve, Protocols: []string{rpc.HTTP}, Dial: rpc.HTTPClient, Store: opener()}
}

func serve(o server.Options, u *users.Service) (server.Server, error) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true // 405 where it would be 404
	r.RedirectTrailingSlash = false // 404 where it would be 301
	if err := r.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	f := &face{users: u, receipts: o.Receipts}
	f.layers(r, o)
	r.NoRoute(func(c *gin.Context) { refuse(c, users.NoPath()) })
	r.NoMethod(func(c *gin.Context) { refuse(c, users.NotAllowed()) })
	r.GET("/health", func(c *gin.Context) {
		o.Receipts.Request()
		c.String(http.StatusOK, "ok\n")
	})
	v1 := r.Group("/v1/users")
	v1.POST("", f.handle(http.StatusCreated, f.create))
	v1.GET("", f.handle(http.StatusOK, f.list))
	v1.GET("/:id", f.handle(http.StatusOK, f.get))
	v1.PUT("/:id", f.handle(http.StatusOK, f.update))
	v1.DELETE("/:id", f.handle(http.StatusOK, f.remove))
	return server.HTTP2(r), nil
}

// face is the service over HTTP.
type face struct {
	users    *users.Service
	receipts *server.Receipts
}

// layers installs the middleware.
func (f *face) layers(r *gin.Engine, o server.Options) {
	f.use(r, f.identify)
	if o.Log != nil {
		f.use(r, gin.LoggerWithWriter(o.Log))
	}
	f.use(r, gin.CustomRecovery(func(c *gin.Context, cause any) { refuse(c, fmt.Errorf("panic: %v", cause)) }))
	if f.users.Limited() {
		f.use(r, f.limit)
	}
}

// use adds a middleware, with its calls counted.
func (f *face) use(r *gin.Engine, layer gin.HandlerFunc) {
	r.Use(func(c *gin.Context) {
		f.receipts.Layer()
		layer(c)
	})
}

// identify gives each answer the id of its request.
func (f *face) identify(c *gin.Context) {
	c.Header("X-Request-Id", f.users.RequestID(c.GetHeader("X-Request-Id")))
}

// limit refuses what is beyond the rate limit.
func (f *face) limit(c *gin.Context) {
	if !f.users.Allow() {
		refuse(c, users.Limited())
	}
}

func (f *face) create(c *gin.Context) (any, error) {
	d, err := f.draft(c)
	if err != nil {
		return nil, err
	}
	return f.users.Create(c.Request.Context(), d)
}

func (f *face) get(c *gin.Context) (any, error) {
	id, err := id(c)
	if err != nil {
		return nil, err
	}
	return f.users.Get(c.Request.Context(), id)
}

func (f *face) update(c *gin.Context) (any, error) {
	d, err := f.draft(c)
	if err != nil {
		return nil, err
	}
	id, err := id(c)
	if err != nil {
		return nil, err
	}
	return f.users.Update(c.Request.Context(), id, d)
}

func (f *face) remove(c *gin.Context) (any, error) {
	id, err := id(c)
	if err != nil {
		return nil, err
	}
	return gin.H{}, f.users.Delete(c.Request.Context(), id)
}

func (f *face) list(c *gin.Context) (any, error) {
	q, err := query(c)
	if err != nil {
		return nil, err
	}
	return f.users.List(c.Request.Context(), q)
}

// handle is a handler that answers with JSON of a value, or of why there is none.
func (f *face) handle(status int, call func(*gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		f.receipts.Request()
		v, err := call(c)
		if err != nil {
			refuse(c, err)
			return
		}
		c.JSON(status, v)
	}
}

func refuse(c *gin.Context, err error) {
	e := users.RefusalOf(err)
	c.AbortWithStatusJSON(e.HTTP(), e)
}

// id binds the path. Where gin cannot, the service says why.
func id(c *gin.Context) (int64, error) {
	var path struct {
		ID int64 `uri:"id"`
	}
	if c.ShouldBindUri(&path) != nil {
		return users.ParseID(c.Param("id"))
	}
	return path.ID, nil
}

// query binds the query, likewise.
func query(c *gin.Context) (users.Query, error) {
	var q struct {
		Query string `form:"query"`
		Page  int32  `form:"page"`
		Limit int32  `form:"limit"`
	}
	if c.ShouldBindQuery(&q) != nil {
		return users.ParseQuery(c.Query("query"), c.Query("page"), c.Query("limit"))
	}
	return users.Query{Text: q.Query, Page: int(q.Page), Limit: int(q.Limit)}, nil
}

// draft binds the body.
func (f *face) draft(c *gin.Context) (d users.Draft, err error) {
	wire := &counted{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, users.MaxBody)}
	c.Request.Body = wire
	err = c.ShouldBindJSON(&d)
	if err == nil { // gin's decoder stops behind the first value
		_, err = io.Copy(io.Discard, wire)
	}
	f.receipts.Body(wire.n)
	switch {
	case wire.tooLong():
		return d, users.TooLarge()
	case err != nil:
		return d, users.Malformed(err)
	}
	return d, nil
}

// counted counts the bytes of a body, and remembers why there are no more: not
// every decoder's error says so.
type counted struct {
	io.ReadCloser
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// tooLong reports whether there were more bytes than are let through.
func (c *counted) tooLong() bool {
	var limit *http.MaxBytesError
	return errors.As(c.err, &limit)
}
