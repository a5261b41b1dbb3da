-- Has wrk post the ten events of post.json with every request.
local file = assert(io.open("post.json", "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
file:close()
