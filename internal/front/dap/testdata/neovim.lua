-- What TestNeovim has Neovim do, with nvim-dap: it opens a dump, and writes to a file what the plugin has got. SOSGO_ADAPTER is host:port.
local dap = require("dap")
local host, port = vim.env.SOSGO_ADAPTER:match("^(.*):(%d+)$")
dap.adapters.sosgo = { type = "server", host = host, port = tonumber(port) }

local out = {}
local function finish()
  local f = assert(io.open(vim.env.SOSGO_ANSWER, "w"))
  f:write(vim.fn.json_encode(out))
  f:close()
  vim.cmd("qall!")
end
-- ask sends a request and waits for its answer.
local function ask(session, command, arguments)
  local answer, failed, done
  session:request(command, arguments, function(err, result) failed, answer, done = err, result, true end)
  if not vim.wait(60000, function() return done end, 10) then failed = "no answer" end
  if failed then out.failed = command .. ": " .. vim.inspect(failed); finish() end
  return answer
end

local stopped
dap.listeners.after.event_stopped.test = function(_, body) stopped = body end
dap.run({ type = "sosgo", request = "launch", name = "dump", dump = vim.env.SOSGO_DUMP, token = vim.env.SOSGO_TOKEN })
if not vim.wait(60000, function() return stopped and dap.session() and dap.session().current_frame end, 10) then
  out.failed = "the session did not stop"
  finish()
end
local s = dap.session()
out.thread, out.reason, out.frame = stopped.threadId, stopped.reason, s.current_frame.name
out.threads = #ask(s, "threads").threads
out.frames = {}
for _, f in ipairs(ask(s, "stackTrace", { threadId = stopped.threadId }).stackFrames) do table.insert(out.frames, f.name) end
out.scopes = {}
for _, scope in ipairs(ask(s, "scopes", { frameId = s.current_frame.id }).scopes) do table.insert(out.scopes, scope.name) end
out.message = ask(s, "evaluate", { expression = vim.env.SOSGO_EXPRESSION, context = "repl", frameId = s.current_frame.id }).result
finish()
