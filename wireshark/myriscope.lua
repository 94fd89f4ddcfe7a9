-- Dissector of captures of Myrinet characters (link type USER0) and of exported packets and journeys (USER1).
-- docs/capture-format.md and docs/wireshark.md of Myriscope describe the formats.
-- Runs with Lua 5.2 (Wireshark 4.0) and Lua 5.4 (Wireshark 4.4 and later).
local VERSION, FIELDS, SYMBOLS, CORRECTED = "", {}, {}, {} -- replaced by `myriscope wireshark --install`
if next(FIELDS) == nil then error("install what `myriscope wireshark` prints: this file has no table of fields") end

-- Items of one chunk in the tree. Chosen: more than a person reads.
local ITEMS_MAX = 4096
-- Characters or bytes of a line of the tree.
local SHOWN_MAX = 32
-- Silent periods that end a packet. F-7
local OPEN_LINK = 16

local myrinet = Proto("myrinet", "Myrinet")
local records = Proto("myrinet_records", "Myrinet packets")
set_plugin_info({ version = VERSION, description = "Myrinet", repository = "" })

---------------------------------------------------------------------------------------------------
-- Fields

-- Fields that rows of Myriscope do not have.
local OWN = {
    { "chunk.version", "uint8", "version of the chunk" },
    { "chunk.kind", "uint8", "0 literal, 1 repeat" },
    { "chunk.length", "uint32", "characters in the planes" },
    { "chunk.first", "uint64", "place of the first character" },
    { "chunk.count", "uint64", "of a repeat: number of repetitions" },
    { "mapping.kind", "string", "kind of a mapping packet" },
    { "mapping.source", "ether", "address of the sender" },
    { "mapping.ticket", "uint32", "number that the answer repeats" },
    { "mapping.version", "uint32", "version of a map" },
    { "mapping.route", "bytes", "all route bytes of the request" },
    { "mapping.back", "bytes", "route bytes of the answer, if not the reverse ones" },
    { "mapping.piece", "uint16", "number of a piece of a map or of routes" },
    { "mapping.pieces", "uint16", "number of pieces" },
    { "mapping.mapper", "ether", "address of the mapper" },
    { "mapping.status", "string", "result of a request" },
    { "mapping.winner", "ether", "mapper in whose favour the sender resigns" },
}

local function make(kind, name, help)
    if kind == "string" then
        return ProtoField.string(name, name, base.UNICODE, help)
    elseif kind == "bytes" then
        return ProtoField.bytes(name, name, base.COLON, help)
    elseif kind == "ether" then
        return ProtoField.ether(name, name, help)
    elseif kind == "bool" then
        return ProtoField.bool(name, name, base.NONE, nil, nil, help)
    elseif kind == "none" then
        return ProtoField.none(name, name, help)
    elseif kind == "double" then
        return ProtoField.double(name, name, help)
    end
    return ProtoField[kind](name, name, kind == "uint8" and base.DEC_HEX or base.DEC, nil, nil, help)
end

-- Fields by name, and their kinds. A name that Wireshark has given to something else gets the prefix `myrinet.`.
local fields, kinds = {}, {}
do
    local all = {}
    local function declare(name, kind, help)
        local made, field = pcall(make, kind, name, help)
        if not made then
            field = make(kind, "myrinet." .. name, help)
        end
        fields[name], kinds[name], all[#all + 1] = field, kind, field
    end
    for _, list in ipairs({ FIELDS, OWN }) do
        for _, it in ipairs(list) do
            if not fields[it[1]] then
                declare(it[1], it[2], it[3])
                for _, word in ipairs(it[4] or {}) do
                    declare(it[1] .. "." .. word, "none", it[1] .. " is " .. word)
                end
            end
        end
    end
    myrinet.fields = all
end

local function expert(name, text, group, severity)
    return ProtoExpert.new("myrinet." .. name, text, group, severity)
end
local found = {
    malformed = expert("malformed", "Malformed", PI_MALFORMED, PI_ERROR),
    crc_bad = expert("crc_bad", "Bad CRC", PI_CHECKSUM, PI_ERROR),
    runt = expert("runt", "Runt: fewer than two bytes", PI_PROTOCOL, PI_ERROR),
    cut = expert("cut", "Packet was cut", PI_SEQUENCE, PI_ERROR),
    partial = expert("partial", "Start or end of the packet was not recorded", PI_SEQUENCE, PI_NOTE),
    corrected = expert("corrected", "Corrected code", PI_CHECKSUM, PI_WARN),
    invalid = expert("invalid", "Invalid code", PI_CHECKSUM, PI_ERROR),
    reset = expert("reset", "Reset", PI_SEQUENCE, PI_WARN),
    overrun = expert("overrun", "Overrun alarm", PI_SEQUENCE, PI_ERROR),
}
do
    local all = {}
    for _, it in pairs(found) do
        all[#all + 1] = it
    end
    myrinet.experts = all
end

local interface_name = Field.new("frame.interface_name")

---------------------------------------------------------------------------------------------------
-- Values

local floor = math.floor

-- Text without control characters, which a terminal would carry out.
local function plain(text)
    return (text:gsub("%c", "?"):gsub("\194[\128-\159]", "?"))
end

local function hex(bytes, first, last)
    local out = {}
    for at = first, math.min(last, first + SHOWN_MAX - 1) do
        out[#out + 1] = string.format("%02x", bytes:byte(at))
    end
    return table.concat(out, " ") .. (last - first >= SHOWN_MAX and " …" or "")
end

-- Decimal digits as a number of 64 bits; the greatest one if there are too many digits.
local function whole(text)
    if not text:match("^%d+$") or #text > 20 or (#text == 20 and text > "18446744073709551615") then
        return UInt64.max()
    end
    local value = UInt64.new(0)
    for digit in text:gmatch("%d") do
        value = value * 10 + tonumber(digit)
    end
    return value
end

-- Adds a field; a word also has a field of its own, as in `crc.bad`.
local function put(tree, name, ...)
    local item = tree:add(fields[name], ...)
    local word = select(select("#", ...), ...)
    if type(word) == "string" and fields[name .. "." .. word] then
        tree:add(fields[name .. "." .. word]):set_hidden()
    end
    return item
end

-- Remainder of x^8 + x^2 + x + 1 for each byte. P-4
local CRC = {}
for byte = 0, 255 do
    local remainder = byte
    for _ = 1, 8 do
        local high = remainder >= 128
        remainder = remainder * 2 % 256
        if high then
            remainder = bit.bxor(remainder, 7)
        end
    end
    CRC[byte] = remainder
end

local function syndrome(bytes)
    local remainder, xor = 0, bit.bxor
    for at = 1, #bytes - 1 do
        remainder = CRC[xor(remainder, bytes:byte(at))]
    end
    return xor(remainder, bytes:byte(#bytes))
end

---------------------------------------------------------------------------------------------------
-- Payloads by type

local function malformed(tree, text)
    tree:add_proto_expert_info(found.malformed, text)
end

-- A row without a tree of its own.
local function broken(tvb, pinfo, root, text)
    pinfo.cols.protocol, pinfo.cols.info = "Myrinet", text
    malformed(tvb:len() > 0 and root:add(myrinet, tvb()) or root:add(myrinet), text)
end

local DATA = { [0] = "short", "medium", "bulk" }
local REASONS = {
    [1] = "not-resident", [2] = "queue-full", [3] = "no-resource", [4] = "no-channel-state",
    [16] = "bad-key", [17] = "no-such-endpoint",
}

-- First fault of a transport packet: its place and its text. T-7
local function transport_fault(tvb)
    local len, flags = tvb:len(), tvb:len() > 1 and tvb(1, 1):uint() or 0
    local kind = len > 0 and tvb(0, 1):uint() % 16
    local data = kind and DATA[kind]
    if len == 0 or floor(tvb(0, 1):uint() / 16) ~= 1 then
        return "version: expected 1"
    elseif not data and kind ~= 8 and kind ~= 9 then
        return "kind: expected 0, 1, 2, 8 or 9"
    elseif len < 14 then
        return "the header is cut short"
    elseif flags > (data and 7 or 1) then
        return "flags: expected 0 to " .. (data and 7 or 1)
    elseif kind == 9 and not REASONS[tvb(7, 1):uint()] or kind ~= 9 and tvb(7, 1):uint() ~= 0 then
        return "NACK reason"
    elseif not data then
        return len > 14 and "bytes behind the end" or nil
    elseif len < 38 then
        return "the header is cut short"
    end
    local words, offset, total, payload = tvb(27, 1):uint(), tvb(28, 4):uint(), tvb(32, 4):uint(), tvb(36, 2):uint()
    if kind == 0 and (words > 8 or words * 4 ~= payload) or kind ~= 0 and words ~= 0 then
        return "argument words"
    elseif kind ~= 2 and (offset ~= 0 or total ~= 0) or kind == 2 and payload > total then
        return "bulk offset or total"
    elseif payload > 8192 or len ~= 38 + payload then
        return "payload length"
    end
end

local function transport(tvb, parent, check)
    local tree = parent:add(tvb(), "Reliability protocol")
    put(tree, "transport.crc", check)
    local fault = transport_fault(tvb)
    if fault then
        put(tree, "transport.kind", "malformed")
        put(tree, "transport.fault", fault)
        malformed(tree, "Malformed transport packet: " .. fault)
        return "malformed"
    end
    local flags, code = tvb(1, 1):uint(), tvb(0, 1):uint() % 16
    local kind = DATA[code] or (code == 8 and "ack" or "nack")
    put(tree, "transport.kind", tvb(0, 1), kind)
    put(tree, "transport.seq", tvb(1, 1), flags % 2)
    put(tree, "transport.source", tvb(2, 2))
    put(tree, "transport.destination", tvb(4, 2))
    put(tree, "transport.channel", tvb(6, 1))
    if kind == "nack" then
        put(tree, "transport.reason", tvb(7, 1), REASONS[tvb(7, 1):uint()])
    end
    put(tree, "transport.timestamp", tvb(8, 4))
    put(tree, "transport.incarnation", tvb(12, 2))
    local text = string.format("%s %d > %d ch %d seq %d", kind, tvb(2, 2):uint(), tvb(4, 2):uint(), tvb(6, 1):uint(), flags % 2)
    if DATA[code] then
        put(tree, "transport.sync", tvb(1, 1), floor(flags / 2) % 2 == 1)
        put(tree, "transport.role", tvb(1, 1), flags >= 4 and "reply" or "request")
        put(tree, "transport.source_endpoint", tvb(14, 2))
        put(tree, "transport.destination_endpoint", tvb(16, 2))
        put(tree, "transport.key", tvb(18, 8), tvb(18, 8):bytes():tohex(true))
        put(tree, "transport.handler", tvb(26, 1))
        put(tree, "transport.length", tvb(36, 2))
        if kind == "bulk" then
            put(tree, "transport.offset", tvb(28, 4))
            put(tree, "transport.total", tvb(32, 4))
        end
    end
    return text
end

local MAPPING = {
    [0] = "host-probe", "answer", "switch-probe", "compare-probe", "map", "routes", "install", "resign",
    "identity-probe",
}
local STATUS = { [0] = "received", "complete", "installed", "refused" }

local function mapping(tvb, parent)
    local tree, len = parent:add(tvb(), "Mapping"), tvb:len()
    local kind = len > 0 and tvb(0, 1):uint()
    local version = kind and floor(kind / 16)
    kind = kind and kind % 16
    local asks = kind == 0 or kind and kind >= 4 and kind <= 6
    local name = (version == 1 or version == 2 and asks) and MAPPING[kind]
    -- Bytes of the kinds; of requests without the route.
    local least = ({ [0] = 16, 22, 11, 11, 20, 20, 16, 13, 11 })[kind]
    local route = asks and len >= 16 and tvb(15, 1):uint() or 0
    local back = version == 2 and len > 16 + route and tvb(16 + route, 1):uint() or 0
    -- Place behind the routes.
    local behind = 16 + route + (version == 2 and 1 + back or 0)
    if not name or len < least + behind - 16 then
        malformed(tree, "Malformed mapping packet")
        return "malformed mapping packet"
    end
    put(tree, "mapping.kind", tvb(0, 1), name)
    put(tree, "mapping.source", tvb(1, 6))
    if kind == 7 then
        put(tree, "mapping.winner", tvb(7, 6))
        return name
    end
    put(tree, "mapping.ticket", tvb(7, 4))
    if kind == 1 then
        put(tree, "mapping.mapper", tvb(11, 6))
        put(tree, "mapping.version", tvb(17, 4))
        put(tree, "mapping.status", tvb(21, 1), STATUS[tvb(21, 1):uint() % 0x80] or "unknown")
    elseif asks then
        put(tree, "mapping.version", tvb(11, 4))
        if route > 0 then
            put(tree, "mapping.route", tvb(16, route))
        end
        if back > 0 then
            put(tree, "mapping.back", tvb(17 + route, back))
        end
        if kind == 4 or kind == 5 then
            put(tree, "mapping.piece", tvb(behind, 2))
            put(tree, "mapping.pieces", tvb(behind + 2, 2))
        end
    end
    return name
end

-- Subtypes of GM, less 256: the first, their number, their name. docs/dialect.md
local GM_SUBTYPES = {
    { 0, 1, "null" }, { 1, 1, "boot" }, { 2, 1, "get" }, { 3, 1, "got" }, { 7, 32, "data" }, { 39, 32, "head" },
    { 71, 1, "body" }, { 72, 1, "tail" }, { 73, 1, "put" }, { 74, 1, "put-head" }, { 75, 1, "put-body" },
    { 76, 1, "put-tail" }, { 77, 32, "datagram" }, { 109, 1, "yp-reply" }, { 110, 1, "yp-query" }, { 128, 1, "ack" },
    { 129, 1, "nack" }, { 130, 1, "nack-down" }, { 131, 1, "nack-reject" }, { 132, 1, "nack-open" },
    { 133, 1, "nack-close" },
}
local GROUPS = { [0x0008] = "gm", [0x0009] = "gm-ethernet", [0x700f] = "gm-mapping" }
-- Fields behind the type: name, place, bytes; the last are reserved in packets without payload.
local GM_HEADER = {
    { "target", 4, 4 }, { "session", 8, 2 }, { "sequence", 10, 2 }, { "sender", 16, 4 }, { "length", 12, 2, true },
    { "target_subport", 14, 1, true }, { "sender_subport", 15, 1, true },
}
local ETHERNET_PREFIX = { { "length", 4, 2 }, { "sequence", 6, 2 }, { "gateway", 8, 6 } }

local function address(range)
    return (range:bytes():tohex(true, ":"))
end

-- Adds the fields of a packet whose first four bytes are its type, of so many bytes; returns a text, and the Ethernet
-- frame in it.
local function vita26(tvb, parent, length)
    local tree, len = parent:add(tvb(), "ANSI/VITA 26-1998"), tvb:len()
    local function fault(text)
        put(tree, "vita26.fault", text)
        malformed(tree, "Malformed: " .. text)
        return "malformed: " .. text
    end
    local group = len >= 4 and GROUPS[tvb(0, 2):uint()] or "unknown"
    put(tree, "vita26.kind", tvb(0, math.min(2, len)), group)
    if len < 4 then
        return "no type " .. fault("byte 0: type is cut short")
    end
    put(tree, "vita26.code", tvb(0, 4))
    local subtype = tvb(2, 2):uint()
    local text = group == "unknown" and string.format("type %08x", tvb(0, 4):uint()) or group
    for _, it in ipairs(group == "gm" and subtype < 512 and GM_SUBTYPES or {}) do
        local size = subtype % 256 - it[1]
        if size >= 0 and size < it[2] then
            put(tree, "vita26.name", tvb(2, 2), it[3])
            text = text .. " " .. it[3]
        end
    end
    local is_gm = group == "gm" and subtype >= 256 and subtype < 512
    local header = is_gm and GM_HEADER or group == "gm-ethernet" and ETHERNET_PREFIX
    if not header then
        return text
    end
    local size, start = 0, is_gm and 24 or 14
    if len < start then
        return text .. " " .. fault("byte 4: " .. (is_gm and "GM header" or "Ethernet prefix") .. " is cut short")
    end
    local has_length = group == "gm-ethernet" or subtype < 256 + 128
    size = (is_gm and tvb(12, 2) or tvb(4, 2)):uint()
    if has_length and size > length - start then
        local at = is_gm and 12 or 4
        return text .. " " .. fault(string.format("byte %d: length is %d, not at most the bytes behind the header", at, size))
    end
    for _, it in ipairs(header) do
        local range = tvb(it[2], it[3])
        if it[1] == "gateway" then
            put(tree, "vita26.gateway", range, address(range))
        elseif has_length or not it[4] then
            put(tree, "vita26." .. it[1], range)
        end
    end
    if is_gm then
        return text .. string.format(" %.0f > %.0f", tvb(16, 4):uint(), tvb(4, 4):uint())
    end
    local frame = len > start and size > 0 and tvb(start, math.min(size, len - start)):tvb() or nil
    if frame and frame:len() >= 14 then
        put(tree, "vita26.destination", frame(0, 6), address(frame(0, 6)))
        put(tree, "vita26.source", frame(6, 6), address(frame(6, 6)))
        put(tree, "vita26.ethertype", frame(12, 2))
        text = text .. string.format(" %s > %s", address(frame(6, 6)), address(frame(0, 6)))
    end
    return text, frame
end

-- Adds the fields of a packet between networks; returns a text. N-5
local function internetwork(tvb, tree)
    local none = string.rep("\0", 6)
    if tvb:len() < 14 or tvb(0, 1):uint() ~= 1 or tvb(13, 1):uint() > 127 or tvb(1, 6):raw() == none or tvb(7, 6):raw() == none then
        return ""
    end
    put(tree, "internetwork.source", tvb(7, 6), address(tvb(7, 6)))
    put(tree, "internetwork.destination", tvb(1, 6), address(tvb(1, 6)))
    put(tree, "internetwork.tag", tvb(13, 1))
    put(tree, "internetwork.payload", UInt64.new(tvb:len() - 14))
    local ends = address(tvb(7, 6)) .. " > " .. address(tvb(1, 6))
    return string.format("internetwork %s type %d  ", ends, tvb(13, 1):uint())
end

---------------------------------------------------------------------------------------------------
-- Packets

myrinet.prefs.vita26 = Pref.bool("Types of four bytes", false, "Packets of captures are of ANSI/VITA 26-1998")

local function add_route(tree, tvb, bytes, len)
    local item = put(tree, "route", tvb(0, len))
    for at = 1, math.min(len, SHOWN_MAX) do
        local byte = bytes:byte(at)
        local step = byte % 64
        local relative = floor(byte / 64) % 2 == 0 and string.format("%+d", step >= 32 and step - 64 or step) or "none"
        item:add(tvb(at - 1, 1), string.format("0x%02x: port %d if absolute, %s if relative", byte, byte - 128, relative))
    end
end

-- Adds route, tag, payload and bytes of a packet of so many bytes, of which the first are in `tvb`; returns a text, and
-- an Ethernet frame and an IP packet in it.
local function packet_bytes(tvb, tree, length, check, is_vita26)
    local bytes = tvb:raw()
    local missing = length > #bytes and length - #bytes or 0
    local crc = (length < 2 or missing > 0) and 0 or 1
    local body = bytes:sub(1, #bytes - crc)
    local route = (body:find("[^\128-\255]") or #body + 1) - 1
    local text, frame, ip = ""
    -- Route and type are before the first byte that was recorded.
    if check == "headless" then
        local payload = math.max(#body - route - 1, 0) + missing - (missing > 0 and 1 or 0)
        put(tree, "payload", UInt64.new(payload))
        put(tree, "bytes", tvb())
        return string.format("%.0f bytes", length)
    end
    if route > 0 then
        add_route(tree, tvb, bytes, route)
        text = "route " .. hex(bytes, 1, route) .. "  "
    end
    local payload = #body - route
    if payload > 0 then
        payload = payload - 1
        local tag = bytes:byte(route + 1)
        put(tree, "tag", tvb(route, 1))
        if is_vita26 then
            local inner
            inner, frame = vita26(tvb(route, payload + 1):tvb(), tree, payload + 1 + missing - (missing > 0 and 1 or 0))
            text = text .. inner .. "  "
        else
            text = text .. string.format("type %d  ", tag)
        end
        if payload > 0 and missing == 0 and not is_vita26 then
            local inner = tvb(route + 1, payload):tvb()
            if tag == 1 then
                text = text .. transport(inner, tree, check) .. "  "
            elseif tag == 2 then
                text = text .. mapping(inner, tree) .. "  "
            elseif tag == 3 then
                text = text .. internetwork(inner, tree)
            elseif tag == 8 then
                ip = inner
            end
        end
    end
    payload = payload + missing - (missing > 0 and check ~= "runt" and 1 or 0)
    put(tree, "payload", UInt64.new(payload))
    if #bytes > 0 then
        put(tree, "bytes", tvb())
    end
    if missing > 0 then
        put(tree, "bytes_left_out", UInt64.new(missing))
    end
    return text .. string.format("%.0f bytes", payload), frame, ip
end

local ENDED_BY = { [0] = "gap", "open-link", "reset", "hole", "capture-end" }
local CHECKS = { [0] = "good", "bad", "runt", "partial" }

-- Adds the result of the CRC check and the end of a packet; returns a text.
local function packet_end(tree, check, fault, ended_by)
    local item = put(tree, "crc", check)
    local text = ""
    if check == "bad" then
        text = string.format("  CRC bad (0x%02x)", fault)
        item:add_proto_expert_info(found.crc_bad, string.format("Bad CRC: syndrome 0x%02x", fault))
    elseif check == "runt" then
        text = "  runt"
        item:add_proto_expert_info(found.runt)
    elseif check == "partial" then
        text = "  partial"
    end
    if check == "good" or check == "bad" then
        put(tree, "syndrome", fault)
    end
    item = put(tree, "ended_by", ended_by)
    if check == "partial" then
        -- The recording ended, not the packet.
        item:add_proto_expert_info(found.partial)
    elseif ended_by ~= "gap" then
        item:add_proto_expert_info(found.cut, "Packet was cut: " .. ended_by)
        text = text .. "  cut by " .. ended_by
    end
    return text
end

local function set_ends(pinfo, channel)
    local from, to = channel:match("^(.*)>(.*)$")
    pinfo.cols.src, pinfo.cols.dst = plain(from or channel), plain(to or "")
end

local function packet(tvb, pinfo, root)
    local header = tvb:len() >= 64 and tvb(6, 2):le_uint() or 0
    if header < 64 or header > tvb:len() then
        return broken(tvb, pinfo, root, "The header of the packet is cut short")
    end
    local tree = root:add(myrinet, tvb())
    local head = tree:add(tvb(0, header), "Header")
    local check, ended_by = CHECKS[tvb(3, 1):uint()] or "bad", ENDED_BY[tvb(2, 1):uint()] or "capture-end"
    if header > 64 then
        local channel = tvb(64, header - 64)
        put(head, "channel", channel, plain(channel:raw()))
        set_ends(pinfo, channel:raw())
    end
    for at, name in ipairs({ "packet", "start", "end", "length", "time_ps", "end_ps" }) do
        local range = tvb(at * 8, 8)
        head:add_le(fields[name], range)
    end
    head:add_le(fields.capture, tvb(56, 4))
    local length = tvb(32, 8):le_uint64():tonumber()
    tree:append_text(", packet " .. tostring(tvb(8, 8):le_uint64()))
    if header == tvb:len() then
        return malformed(tree, "No bytes of the packet")
    end
    -- Of a packet whose start was not recorded, route and type are not known.
    local start = check == "partial" and tvb(4, 1):uint() == 1 and "headless" or check
    local text, frame, ip = packet_bytes(tvb(header):tvb(), tree, length, start, tvb(5, 1):uint() == 1)
    pinfo.cols.info = text .. packet_end(tree, check, tvb(4, 1):uint(), ended_by)
    if frame then
        Dissector.get("eth_withoutfcs"):call(frame, pinfo, root)
    elseif ip then
        Dissector.get("ip"):call(ip, pinfo, root)
    end
end

-- A journey: lines `name=value`; a line `name` begins the next element of a list.
local function journey(tvb, pinfo, root)
    local tree = root:add(myrinet, tvb())
    local branches, seen, at = {}, {}, 8
    local text = tvb:raw(8)
    for line in text:gmatch("([^\n]*)\n") do
        local name, value = line:match("^([^=]*)=(.*)$")
        local range = tvb(at, #line)
        local list = (name or line):match("^(.*)%.[^.]*$") or ""
        local parent = branches[list] or branches[list:match("^(.*)%.") or ""] or tree
        at = at + #line + 1
        if not name then
            branches[line] = parent:add(range, plain(line))
        elseif fields[name] then
            local kind = kinds[name]
            if kind == "uint64" then
                put(parent, name, range, whole(value))
            elseif kind == "string" then
                put(parent, name, range, plain(value))
            elseif kind == "bool" then
                put(parent, name, range, value == "true")
            elseif kind == "double" then
                put(parent, name, range, tonumber(value) or 0)
            elseif kind == "int32" then
                put(parent, name, range, floor(math.min(math.max(tonumber(value) or 0, -2 ^ 31), 2 ^ 31 - 1)))
            elseif kind:match("^uint") then
                put(parent, name, range, floor(math.min(math.max(tonumber(value) or 0, 0), 2 ^ tonumber(kind:sub(5)) - 1)))
            end
            seen[name] = seen[name] or value
            seen.last = name == "hops.channel" and value or seen.last
            if name == "hops.channel" and branches.hops then
                branches.hops:append_text(": " .. plain(value))
            end
        end
    end
    local ends = { (seen["hops.channel"] or ""):match("^(.*)>"), (seen.last or ""):match(">(.*)$") }
    pinfo.cols.src, pinfo.cols.dst = plain(ends[1] or ""), plain(ends[2] or "")
    local waited = whole(seen.waited_ps or "0"):tonumber()
    local texts = {
        "journey " .. (seen.journey or "?"),
        (seen.fate or "?") .. (seen.rule and " (" .. seen.rule .. ")" or ""),
        "type " .. (seen.tag or "-"),
        seen["transport.kind"] or "",
        (seen.payload or "?") .. " bytes",
        (seen.hops or "?") .. (seen.hops == "1" and " hop" or " hops"),
        string.format("%.4f µs", whole(seen.latency_ps or "0"):tonumber() / 1e6),
        waited > 0 and string.format("waited %.4f µs", waited / 1e6) or "",
        seen["injuries.harm"] or "",
    }
    pinfo.cols.info = plain(table.concat(texts, "  "):gsub("   +", "  "):gsub(" +$", ""))
end

---------------------------------------------------------------------------------------------------
-- Characters

-- Bytes of the plane of d bits that have none of the other kind.
local SAME, OTHER = { [0] = 0, [1] = 255 }, { [0] = "[^\0]", [1] = "[^\255]" }

-- First character from `at` on whose d bit is not `bit`; n if there is none.
local function next_change(d, at, n, bit)
    while at < n do
        local byte = d:byte(floor(at / 8) + 1)
        if byte == SAME[bit] then
            local other = d:find(OTHER[bit], floor(at / 8) + 1)
            at = other and (other - 1) * 8 or n
        elseif floor(byte / 2 ^ (at % 8)) % 2 ~= bit then
            return at
        else
            at = at + 1
        end
    end
    return n
end

-- Calls `each` for every run of data, or of one control code: code or nil, first, last.
local function each_run(low, d, n, each)
    local at = 0
    while at < n do
        local is_data = floor(d:byte(floor(at / 8) + 1) / 2 ^ (at % 8)) % 2
        local stop = math.min(next_change(d, at, n, is_data), n)
        if is_data == 1 then
            each(nil, at, stop - 1)
        else
            while at < stop do
                local code = low:byte(at + 1)
                local last = at
                while last + 1 < stop and low:byte(last + 2) == code do
                    last = last + 1
                end
                each(code, at, last)
                at = last + 1
            end
        end
        at = stop
    end
end

-- Frames that began in an earlier chunk: by interface the end of its last chunk, if it ended inside a frame; and by
-- number of the chunks that continue one.
local open, continued = {}, {}
function myrinet.init()
    open, continued = {}, {}
end

local EVENTS = { FRES = "forward-reset", BRES = "backward-reset", ORUN = "overrun-alarm" }

-- A control code worth an event, as the receiver would report it.
local function add_event(tree, range, at, code, name)
    local item = tree:add(range, string.format("%s: 0x%02x %s", tostring(at), code, name or "no symbol"))
    local function event(what, info, text)
        put(item, "event", what)
        put(item, "at", at)
        if info then
            item:add_proto_expert_info(info, text)
        end
    end
    local number, status = (name or ""):match("^PRB(%d+)"), (name or ""):match("^REPL(%d+)")
    if not name then
        event("invalid-code", found.invalid, string.format("Invalid code 0x%02x", code))
        put(item, "code", code)
    elseif CORRECTED[code] then
        event("corrected-code", found.corrected, string.format("Code 0x%02x corrected to %s", code, name))
        put(item, "code", code)
        put(item, "symbol", name)
    end
    if EVENTS[name] then
        event(EVENTS[name], name == "ORUN" and found.overrun or found.reset, name)
    elseif number then
        event("probe")
        put(item, "number", tonumber(number))
    elseif status then
        event("reply")
        put(item, "status", tonumber(status))
    end
end

-- A frame of data runs, closed by GAP.
local function add_packet(tree, tvb, base, first, last, low, runs)
    local parts = {}
    for _, run in ipairs(runs) do
        parts[#parts + 1] = low:sub(run[1] + 1, run[2] + 1)
    end
    local bytes = table.concat(parts)
    local item = tree:add(tvb(), "Packet")
    put(item, "start", base + first)
    put(item, "end", base + last)
    put(item, "length", UInt64.new(#bytes))
    local fault = #bytes > 1 and syndrome(bytes) or 0
    local check = #bytes < 2 and "runt" or fault ~= 0 and "bad" or "good"
    -- Bytes of one run are those of the chunk, others are joined.
    local inner = #runs == 1 and tvb or ByteArray.new(bytes, true):tvb("Packet")
    local text = packet_bytes(inner, item, #bytes, check, myrinet.prefs.vita26)
    text = text .. packet_end(item, check, fault, "gap")
    item:append_text(": " .. text)
    return text
end

-- Adds the characters of the planes, which stand `times`; returns texts about the packets.
local function add_characters(tvb, tree, base, low, d, times, inside)
    local list = tree:add(tvb(), "Characters")
    local packets = tree:add(tvb(), "Packets")
    local counts, items, runs, texts = {}, 0, {}, {}
    local data, corrected, invalid, n = 0, 0, 0, #low
    local function shown()
        items = items + 1
        return items <= ITEMS_MAX
    end
    each_run(low, d, n, function(code, first, last)
        local len, range = last - first + 1, tvb(first, last - first + 1)
        if not code then
            data = data + len
            runs[#runs + 1] = { first, last }
            if shown() then
                list:add(range, string.format("%s: %s", tostring(base + first), hex(low, first + 1, last + 1)))
            end
            return
        end
        local name = SYMBOLS[code] or CORRECTED[code]
        local family = name and name:gsub("^PRB%d+", "PRBn"):gsub("^REPL%d+", "REPLx")
        corrected = corrected + (CORRECTED[code] and len or 0)
        if family then
            counts[family] = (counts[family] or 0) + len
        else
            invalid = invalid + len
        end
        local is_event = CORRECTED[code] or not name or EVENTS[name] or family == "PRBn" or family == "REPLx"
        for at = first, is_event and last or first do
            if not shown() then
                break
            elseif is_event then
                add_event(list, tvb(at, 1), base + at, code, name)
            else
                list:add(range, string.format("%s: %s%s", tostring(base + at), name, len > 1 and " × " .. len or ""))
            end
        end
        if name == "GAP" then
            if inside == "unsure" then
                if #runs > 0 then
                    packets:add(range, "End of a packet whose start was not recorded")
                end
            elseif inside then
                packets:add(range, "End of a packet that began in an earlier chunk, or was reset")
            elseif #runs > 0 and shown() then
                local from, to = runs[1][1], runs[#runs][2]
                texts[#texts + 1] = add_packet(packets, tvb(from, to - from + 1):tvb(), base, from, to, low, runs)
            end
            runs, inside = {}, false
        elseif name == "FRES" then
            runs, inside = {}, true
        elseif name == "IDLE" and len >= OPEN_LINK and (inside or #runs > 0) then
            packets:add(range, "End of a packet: the link is open")
            runs, inside = {}, false
        end
    end)
    if #runs > 0 and not inside then
        local first = runs[1][1]
        packets:add(tvb(first), string.format("%s: a packet begins that ends in a later chunk", tostring(base + first)))
    end
    if items > ITEMS_MAX then
        list:append_text(string.format(" (%d items more are not listed)", items - ITEMS_MAX))
    end
    local sums = tree:add(tvb(), "Counts")
    put(sums, "data", times * data)
    for family, count in pairs(counts) do
        put(sums, "control." .. family, times * count)
    end
    put(sums, "corrected", times * corrected)
    put(sums, "invalid", times * invalid)
    return texts
end

-- True if the planes, which stand `times`, end inside a frame or in a reset.
local function ends_inside(low, d, n, times, inside)
    if n > 8 and d:byte(#d) == 2 ^ ((n - 1) % 8) - 1 and low:byte(n) == 0x0c then
        return false -- A GAP behind data, as chunks of the simulator end.
    end
    each_run(low, d, n, function(code, first, last)
        local name = code and (SYMBOLS[code] or CORRECTED[code])
        if not code or name == "FRES" then
            inside = true
        elseif name == "GAP" then
            inside = false
        elseif name == "IDLE" and (last - first + 1) * (n == 1 and times or 1) >= OPEN_LINK then
            inside = false
        end
    end)
    return inside
end

-- Characters in notation, for a line.
local function notation(low, d, n)
    local out, count = {}, 0
    each_run(low, d, math.min(n, SHOWN_MAX), function(code, first, last)
        local len = last - first + 1
        if not code then
            out[#out + 1] = hex(low, first + 1, last + 1)
        else
            local name = SYMBOLS[code] or (CORRECTED[code] or string.format("?%02x", code)) .. "!"
            out[#out + 1] = len > 1 and string.format("%s×%d", name, len) or name
        end
        count = last + 1
    end)
    return table.concat(out, " ") .. (count < n and " …" or "")
end

local function chunk(tvb, pinfo, root)
    local len = tvb:len()
    local is_repeat = len > 1 and tvb(1, 1):uint() == 1
    local at = is_repeat and 24 or 16
    if len < at + 2 or tvb(0, 1):uint() ~= 1 or tvb(1, 1):uint() > 1 then
        return broken(tvb, pinfo, root, "No chunk of version 1, kind 0 or 1")
    end
    local n, base = tvb(4, 4):le_uint(), tvb(8, 8):le_uint64()
    local count = is_repeat and tvb(16, 8):le_uint64() or UInt64.new(1)
    if n == 0 or len ~= at + n + math.ceil(n / 8) or is_repeat and n > 64 then
        return broken(tvb, pinfo, root, string.format("Planes of %.0f characters in a chunk of %d bytes", n, len))
    end
    local low, d = tvb:raw(at, n), tvb:raw(at + n)
    local channel = interface_name()
    channel = channel and channel.value or ""
    set_ends(pinfo, channel)
    if not pinfo.visited then
        -- Behind a hole, or where the recording begins, a packet may have begun before.
        local last = open[channel] or { place = "0" }
        local inside = last.inside
        if last.place ~= tostring(base) then
            inside = "unsure"
        end
        continued[pinfo.number] = inside or nil
        open[channel] =
            { place = tostring(base + n * count), inside = ends_inside(low, d, n, count:tonumber(), inside) }
    end
    pinfo.cols.info = (is_repeat and "(" or "") .. notation(low, d, n) .. (is_repeat and ")×" .. tostring(count) or "")
    if not (root.visible or root:referenced(Dissector.get("myrinet"))) then
        return
    end
    local tree = root:add(myrinet, tvb())
    tree:append_text(string.format(", %s characters", tostring(count * n)))
    put(tree, "channel", plain(channel))
    put(tree, "characters", count * n)
    local head = tree:add(tvb(0, at), "Chunk header")
    head:add(fields["chunk.version"], tvb(0, 1))
    head:add(fields["chunk.kind"], tvb(1, 1))
    head:add_le(fields["chunk.length"], tvb(4, 4))
    head:add_le(fields["chunk.first"], tvb(8, 8))
    if is_repeat then
        head:add_le(fields["chunk.count"], tvb(16, 8))
    end
    local texts = add_characters(tvb(at, n):tvb(), tree, base, low, d, count, continued[pinfo.number])
    if #texts > 0 and not is_repeat then
        pinfo.cols.info = texts[1] .. (#texts > 1 and string.format("  (and %d more packets)", #texts - 1) or "")
    end
end

---------------------------------------------------------------------------------------------------

-- Dissects, and marks what a hostile file makes fail.
local function guarded(dissect, tvb, pinfo, tree)
    pinfo.cols.protocol = "Myrinet"
    local done, fault = pcall(dissect, tvb, pinfo, tree)
    if not done then
        broken(tvb, pinfo, tree, "Not dissected: " .. tostring(fault))
    end
    return tvb:len()
end

function myrinet.dissector(tvb, pinfo, tree)
    return guarded(chunk, tvb, pinfo, tree)
end

function records.dissector(tvb, pinfo, tree)
    local is_journey = tvb:len() > 8 and tvb(1, 1):uint() == 1
    if tvb:len() == 0 or tvb(0, 1):uint() ~= 1 then
        broken(tvb, pinfo, tree, "No record of version 1")
        return tvb:len()
    end
    return guarded(is_journey and journey or packet, tvb, pinfo, tree)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, myrinet)
DissectorTable.get("wtap_encap"):add(wtap.USER1, records)
