// Package api serves app users, an API that stores users, over HTTP with gin.
package api

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

// New returns the transport of this contender: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.HTTP}, Dial: rpc.HTTPClient, Store: newOpener()}
}

// newServer returns the server. Errors have the same status as in the other transports.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true // status 405 instead of 404
	r.RedirectTrailingSlash = false // status 404 instead of 301
	if err := r.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	f := &usersServer{users: u, receipts: o.Receipts}
	f.addLayers(r, o)
	r.NoRoute(func(c *gin.Context) { writeError(c, users.NoPath()) })
	r.NoMethod(func(c *gin.Context) { writeError(c, users.NotAllowed()) })
	r.GET("/health", func(c *gin.Context) {
		o.Receipts.Request()
		c.String(http.StatusOK, "ok\n")
	})
	v1 := r.Group("/v1/users")
	v1.POST("", f.newHandler(http.StatusCreated, f.createUser))
	v1.GET("", f.newHandler(http.StatusOK, f.listUsers))
	v1.GET("/:id", f.newHandler(http.StatusOK, f.getUser))
	v1.PUT("/:id", f.newHandler(http.StatusOK, f.updateUser))
	v1.DELETE("/:id", f.newHandler(http.StatusOK, f.removeUser))
	return server.HTTP2(r), nil
}

type usersServer struct {
	users    *users.Service
	receipts *server.Receipts // counts requests, bytes of bodies and calls of middleware
}

// addLayers adds the middleware, the outermost first.
func (f *usersServer) addLayers(r *gin.Engine, o server.Options) {
	f.addLayer(r, f.setRequestID)
	if o.Log != nil {
		f.addLayer(r, gin.LoggerWithWriter(o.Log))
	}
	f.addLayer(r, gin.CustomRecovery(func(c *gin.Context, cause any) { writeError(c, fmt.Errorf("panic: %v", cause)) }))
	if f.users.Limited() {
		f.addLayer(r, f.limitRate)
	}
}

// addLayer adds a middleware that counts its calls.
func (f *usersServer) addLayer(r *gin.Engine, layer gin.HandlerFunc) {
	r.Use(func(c *gin.Context) {
		f.receipts.Layer()
		layer(c)
	})
}

// setRequestID adds the id of the request to its response.
func (f *usersServer) setRequestID(c *gin.Context) {
	c.Header("X-Request-Id", f.users.RequestID(c.GetHeader("X-Request-Id")))
}

func (f *usersServer) limitRate(c *gin.Context) {
	if !f.users.Allow() {
		writeError(c, users.Limited())
	}
}

func (f *usersServer) createUser(c *gin.Context) (any, error) {
	d, err := f.readDraft(c)
	if err != nil {
		return nil, err
	}
	return f.users.Create(c.Request.Context(), d)
}

func (f *usersServer) getUser(c *gin.Context) (any, error) {
	id, err := readID(c)
	if err != nil {
		return nil, err
	}
	return f.users.Get(c.Request.Context(), id)
}

func (f *usersServer) updateUser(c *gin.Context) (any, error) {
	d, err := f.readDraft(c)
	if err != nil {
		return nil, err
	}
	id, err := readID(c)
	if err != nil {
		return nil, err
	}
	return f.users.Update(c.Request.Context(), id, d)
}

func (f *usersServer) removeUser(c *gin.Context) (any, error) {
	id, err := readID(c)
	if err != nil {
		return nil, err
	}
	return gin.H{}, f.users.Delete(c.Request.Context(), id)
}

func (f *usersServer) listUsers(c *gin.Context) (any, error) {
	q, err := readQuery(c)
	if err != nil {
		return nil, err
	}
	return f.users.List(c.Request.Context(), q)
}

// newHandler returns a handler that responds with the result of call as JSON.
func (f *usersServer) newHandler(status int, call func(*gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		f.receipts.Request()
		v, err := call(c)
		if err != nil {
			writeError(c, err)
			return
		}
		c.JSON(status, v)
	}
}

// writeError responds with an error of the service, and ends the chain of handlers.
func writeError(c *gin.Context, err error) {
	e := users.RefusalOf(err)
	c.AbortWithStatusJSON(e.HTTP(), e)
}

// readID returns the id in the path. If gin cannot bind it, users.ParseID makes the error that all
// transports return.
func readID(c *gin.Context) (int64, error) {
	var path struct {
		ID int64 `uri:"id"`
	}
	if c.ShouldBindUri(&path) != nil {
		return users.ParseID(c.Param("id"))
	}
	return path.ID, nil
}

// readQuery returns the query of a list of users. If gin cannot bind it, users.ParseQuery makes the error
// that all transports return.
func readQuery(c *gin.Context) (users.Query, error) {
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

// readDraft decodes the name and email of a user from the body, and counts its bytes.
func (f *usersServer) readDraft(c *gin.Context) (d users.Draft, err error) {
	body := &countedBody{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, users.MaxBody)}
	c.Request.Body = body
	err = c.ShouldBindJSON(&d)
	if err == nil { // gin's decoder stops after the first JSON value
		_, err = io.Copy(io.Discard, body)
	}
	f.receipts.Body(body.n)
	switch {
	case body.tooLong():
		return d, users.TooLarge()
	case err != nil:
		return d, users.Malformed(err)
	}
	return d, nil
}

// countedBody counts the bytes of a body. It stores the last error of Read, which some decoders hide.
type countedBody struct {
	io.ReadCloser
	n   int64
	err error
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// tooLong reports whether the body was longer than the limit.
func (c *countedBody) tooLong() bool {
	var limit *http.MaxBytesError
	return errors.As(c.err, &limit)
}
