/* Match lines against templates and capture their values into columns.

   A template is a sequence of steps. A line matches if the steps of one template match all of it.
   Captures become text columns in Arrow's format. Lines that do not match are listed for the caller,
   who reads them in another way, so nothing is decided here.
   Needs no library, allocates nothing, keeps nothing. `scanner.py` calls it, and its tests
   compare it with a regular expression. */

#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

typedef uint8_t byte;

/* Steps, each a letter. A literal is followed by its size in two bytes and by itself, a capture by
   the number of its column. */
enum {
  LITERAL = 'L', /* these bytes */
  TEXT = 'T',    /* captured: characters as themselves */
  INSIDE = 'I',  /* captured: characters as themselves, or escaped in one of two layers of JSON */
  NAME = 'N',    /* captured: a text in quotes, or null */
  WHOLE = 'W',   /* captured: a whole number, or null */
  NUMBER = 'D',  /* captured: a number, or null */
  ABSENT = 'A',  /* captured: that lines so written have none */
  END = 'E'
};
enum { WHOLE_DIGITS = 15, DECIMALS = 17, NOTHING = 0 };

struct found {
  size_t lines, left, unescaped;
};

struct reader {
  const byte *at, *end; /* what is left of the text */
  byte *out;            /* the end of what was captured */
  size_t unescaped;
};

/* A text of a column (Arrow's string view): a short text is stored inline, a long one by its offset
   among all captured texts. */
struct view {
  uint32_t size;
  union {
    byte inside[12];
    struct {
      byte first[4];
      uint32_t buffer, offset;
    } outside;
  };
};

/* The memory of one scan: this header with one entry per column and one for the template numbers,
   then the views of each column, then the template numbers, then the long texts. */
struct memory {
  _Alignas(16) void (*give_back)(void *); /* called with this when nobody uses it */
  int64_t users;
  int64_t captured; /* bytes of texts */
  size_t columns, room;
  struct column {
    _Alignas(16) struct memory *memory;
    const void *buffers[4]; /* what is null, the views, the texts, how many bytes these have */
  } column[];
};

static struct view *views_in(struct memory *memory, size_t column) {
  return (struct view *)(memory->column + memory->columns + 1) + column * memory->room;
}

/* For each line that matches, the number of its template. */
static byte *numbers_in(struct memory *memory) { return (byte *)views_in(memory, memory->columns); }

static byte *texts_in(struct memory *memory) { return numbers_in(memory) + memory->room; }

#define EACH(c) (UINT64_C(0x0101010101010101) * (c))

static uint64_t eight(const byte *at) {
  uint64_t word;
  __builtin_memcpy(&word, at, 8);
  return word;
}

/* Set the high bit of each of eight bytes that is below `c`; only the first such is certain. */
static uint64_t below(uint64_t word, byte c) { return (word - EACH(c)) & ~word & EACH(0x80); }

static uint64_t same(uint64_t word, byte c) { return below(word ^ EACH(c), 1); }

/* Count the bytes before the first one that is set. */
static int before(uint64_t set) { return __builtin_ctzll(set) / 8; }

/* Set the high bit of each of eight bytes that cannot stand unescaped in an ASCII text. */
static uint64_t special(uint64_t word) {
  return (word & EACH(0x80)) | below(word, ' ') | same(word, '"') | same(word, '\\') |
         same(word, 0x7f);
}

static int is_plain(byte c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

/* Characters above ASCII that may stand in a text, chosen so that any text of them is in NFC. */
static int is_allowed(uint32_t code) {
  return (code >= 0x80 && code <= 0x2ff) || (code >= 0x2010 && code <= 0x2027) ||
         (code >= 0x2030 && code <= 0x205e) || code == 0x20ac;
}

static int put(struct reader *r, uint32_t code) {
  if (!is_allowed(code)) return 0;
  if (code < 0x800) {
    *r->out++ = (byte)(0xc0 | code >> 6);
  } else {
    *r->out++ = (byte)(0xe0 | code >> 12);
    *r->out++ = (byte)(0x80 | (code >> 6 & 0x3f));
  }
  *r->out++ = (byte)(0x80 | (code & 0x3f));
  return 1;
}

/* Take a character above ASCII in UTF-8. Overlong encodings are refused: two bytes cannot encode
   U+0800 and above, and three bytes below it are checked here. */
static int wide(struct reader *r) {
  const byte *at = r->at;
  ptrdiff_t left = r->end - at;
  uint32_t code;
  int size;
  if (left >= 2 && (at[0] & 0xe0) == 0xc0) {
    size = 2;
    code = at[0] & 0x1f;
  } else if (left >= 3 && (at[0] & 0xf0) == 0xe0) {
    size = 3;
    code = at[0] & 0x0f;
  } else {
    return 0;
  }
  for (int i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (at[i] & 0x3f);
  }
  if ((size == 3 && code < 0x800) || !put(r, code)) return 0;
  r->at += size;
  return 1;
}

/* Take `\u00f3`, an escape of the line, or `\\u00f3`, one of the JSON inside. */
static int escape(struct reader *r) {
  const byte *at = r->at + 1;
  if (at < r->end && *at == '\\') at++;
  if (r->end - at < 5 || *at++ != 'u') return 0;
  uint32_t code = 0;
  for (int i = 0; i < 4; i++, at++) {
    if (*at >= '0' && *at <= '9') code = code << 4 | (uint32_t)(*at - '0');
    else if (*at >= 'a' && *at <= 'f') code = code << 4 | (uint32_t)(*at - 'a' + 10);
    else return 0;
  }
  if (!put(r, code)) return 0;
  r->at = at;
  r->unescaped++;
  return 1;
}

/* Take characters while they are allowed in a text. */
static void text(struct reader *r, int inside) {
  for (;;) {
    int plain = 8;
    while (plain == 8 && r->end - r->at >= 8) {
      uint64_t word = eight(r->at), set = special(word);
      plain = set ? before(set) : 8;
      __builtin_memcpy(r->out, &word, 8); /* what is too much will be overwritten */
      r->at += plain;
      r->out += plain;
    }
    if (r->at == r->end) return;
    if (plain == 8 && is_plain(*r->at)) *r->out++ = *r->at++;
    else if (*r->at >= 0x80 ? !wide(r) : *r->at != '\\' || !inside || !escape(r)) return;
  }
}

static int are_same(const byte *one, const byte *other, size_t size) {
  if (size < 8) {
    for (size_t i = 0; i < size; i++)
      if (one[i] != other[i]) return 0;
    return 1;
  }
  for (size_t i = 0; i < size - 8; i += 8)
    if (eight(one + i) != eight(other + i)) return 0;
  return eight(one + size - 8) == eight(other + size - 8);
}

static int literal(struct reader *r, const byte *wanted, size_t size) {
  if ((size_t)(r->end - r->at) < size || !are_same(r->at, wanted, size)) return 0;
  r->at += size;
  return 1;
}

static int null(struct reader *r) {
  if (!literal(r, (const byte *)"null", 4)) return 0;
  *r->out++ = NOTHING;
  return 1;
}

static int name(struct reader *r) {
  if (null(r)) return 1;
  if (!literal(r, (const byte *)"\"", 1)) return 0;
  text(r, 0);
  return literal(r, (const byte *)"\"", 1);
}

/* Take at most `most` digits; return how many. */
static int digits(struct reader *r, int most) {
  int count = 0;
  while (count < most && r->at < r->end && *r->at >= '0' && *r->at <= '9') {
    *r->out++ = *r->at++;
    count++;
  }
  return count;
}

static int number(struct reader *r, int decimals) {
  if (null(r)) return 1;
  int zero = r->at < r->end && *r->at == '0';
  if (!digits(r, zero ? 1 : WHOLE_DIGITS)) return 0;
  if (!decimals || r->at == r->end || *r->at != '.') return 1;
  *r->out++ = *r->at++;
  return digits(r, decimals) > 0;
}

static int capture(struct reader *r, byte step) {
  switch (step) {
    case TEXT: text(r, 0); return 1;
    case INSIDE: text(r, 1); return 1;
    case NAME: return name(r);
    case WHOLE: return number(r, 0);
    case NUMBER: return number(r, DECIMALS);
    case ABSENT: *r->out++ = NOTHING; return 1;
  }
  return 0;
}

static struct view view_of(const byte *start, const byte *end, const byte *texts) {
  struct view made = {.size = (uint32_t)(end - start)};
  if (made.size <= sizeof made.inside) {
    for (uint32_t i = 0; i < made.size; i++) made.inside[i] = start[i];
  } else {
    __builtin_memcpy(made.outside.first, start, 4);
    made.outside.offset = (uint32_t)(start - texts);
  }
  return made;
}

/* Match one line; `views` points to its view in the first column. */
static int line(struct reader *r, const byte *step, struct view *views, size_t room,
                const byte *texts) {
  for (; *step != END; step++) {
    if (*step == LITERAL) {
      size_t size = step[1] | (size_t)step[2] << 8;
      if (!literal(r, step + 3, size)) return 0;
      step += size + 2;
    } else {
      struct view *view = views + room * step[1];
      byte *start = r->out;
      if (!capture(r, *step)) return 0;
      *view = view_of(start, r->out, texts);
      if (view->size <= sizeof view->inside) r->out = start;
      step++;
    }
  }
  return r->at == r->end || *r->at == '\n';
}

static const byte *line_end(const byte *at, const byte *end) {
  while (end - at >= 8 && !same(eight(at), '\n')) at += 8;
  while (at < end && *at != '\n') at++;
  return at;
}

/* The version of this interface: raise it with every change, here and in `scanner.py`. */
int edition(void) { return 2; }

size_t line_ends(const byte *all, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size;) {
    byte some = 0; /* small, so that many are counted at once */
    for (size_t end = size - i > 128 ? i + 128 : size; i < end; i++) some += all[i] == '\n';
    count += some;
  }
  return count;
}

/* Return how many bytes `scan` needs: a view per line and column, a template number per line, and
   the text once more. */
size_t memory_for(size_t columns, size_t lines, size_t size) {
  size_t each = sizeof(struct column) + lines * sizeof(struct view);
  return sizeof(struct memory) + columns * each + sizeof(struct column) + lines + size + 16;
}

/* Scan a text line by line with `ways` templates, whose steps begin at `starts`. `left` receives
   three numbers for each line that matches none: its position, start and end. */
void scan(const byte *all, size_t size, const byte *steps, const size_t *starts, size_t ways,
          struct memory *memory, uint32_t *left, struct found *found) {
  const byte *end = all + size;
  byte *texts = texts_in(memory), *numbers = numbers_in(memory);
  struct view *views = views_in(memory, 0);
  struct reader r = {.at = all, .end = end, .out = texts};
  struct found n = {0};
  for (const byte *start = all;; start = r.at + 1) {
    const struct reader before = {.at = start, .end = end, .out = r.out, .unescaped = r.unescaped};
    size_t way = 0;
    for (r = before; way < ways; way++, r = before)
      if (line(&r, steps + starts[way], views, memory->room, texts)) break;
    if (way < ways) {
      views++;
      *numbers++ = (byte)way;
    } else {
      r.at = line_end(start, end);
      uint32_t *about = left + 3 * n.left++;
      about[0] = (uint32_t)n.lines;
      about[1] = (uint32_t)(start - all);
      about[2] = (uint32_t)(r.at - all);
    }
    n.lines++;
    if (r.at == end) break;
  }
  n.unescaped = r.unescaped;
  memory->captured = r.out - texts;
  *found = n;
}

/* Arrow's C data interface. */
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

void let_go(struct memory *memory) {
  if (!__atomic_sub_fetch(&memory->users, 1, __ATOMIC_ACQ_REL)) memory->give_back(memory);
}

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_array(struct ArrowArray *array) {
  array->release = NULL;
  let_go(((struct column *)array->private_data)->memory);
}

/* Export a text column of `height` rows, or after the last of these the template numbers; the memory
   stays in use until the receiver releases the column. */
void hand_out(struct memory *memory, size_t at, int64_t height, struct ArrowSchema *schema,
              struct ArrowArray *array) {
  struct column *column = &memory->column[at];
  int texts = at < memory->columns;
  *column = (struct column){
      .memory = memory,
      .buffers = {NULL, views_in(memory, at), texts_in(memory), &memory->captured},
  };
  *schema = (struct ArrowSchema){
      .format = texts ? "vu" : "C", .name = "", .release = release_schema};
  *array = (struct ArrowArray){.length = height,
                               .n_buffers = texts ? 4 : 2,
                               .buffers = column->buffers,
                               .release = release_array,
                               .private_data = column};
  __atomic_add_fetch(&memory->users, 1, __ATOMIC_ACQ_REL);
}
