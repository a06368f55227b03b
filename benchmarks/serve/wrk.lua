-- Bodies in turn, each behind its length as text in ten characters; the result as one line of JSON.
local requests, number = {}, 0

init = function(arguments)
  local file = io.open(arguments[1], "rb")
  local content = file:read("*a")
  file:close()
  for place = 3, #arguments, 2 do
    wrk.headers[arguments[place]] = arguments[place + 1]
  end
  local place = 1
  while place <= #content do
    local length = tonumber(content:sub(place, place + 9))
    local body = content:sub(place + 10, place + 9 + length)
    requests[#requests + 1] = wrk.format("POST", arguments[2], wrk.headers, body)
    place = place + 10 + length
  end
end

request = function()
  number = number + 1
  return requests[(number - 1) % #requests + 1]
end

done = function(summary, latency, _)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50": %.4f, "p99": %.4f, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
