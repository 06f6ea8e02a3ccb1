"""Tables of Python: which modules, functions and methods change something, and which do not."""

from __future__ import annotations

from markscheme.read.json_fields import split_words

# Modules whose functions change nothing outside the process, apart from the exceptions below.
PURE_MODULES = split_words(
    "json re sys math cmath ast csv collections itertools functools datetime time calendar "
    "statistics random hashlib hmac base64 binascii string textwrap pprint glob fnmatch inspect "
    "tokenize token typing typing_extensions dataclasses enum decimal fractions operator copy "
    "heapq bisect array struct unicodedata difflib html urllib.parse urllib.error urllib.request "
    "urllib xml tomllib toml tomli yaml ruamel configparser platform locale getpass importlib "
    "importlib.metadata importlib.util importlib.resources pkgutil pkg_resources packaging site "
    "sysconfig warnings traceback argparse logging dis symtable zlib gzip bz2 lzma zipfile "
    "tarfile uuid secrets keyword errno stat types numbers abc contextlib io codecs os os.path "
    "pathlib posixpath ntpath linecache reprlib colorsys ipaddress mimetypes email quopri numpy "
    "pandas polars pyarrow scipy sklearn matplotlib bs4 lxml defusedxml dateutil pytz zoneinfo "
    "attr attrs sqlparse jsonschema tabulate psutil chardet charset_normalizer regex orjson ujson "
    "simplejson msgspec pyaml markdown jinja2 http.client requests httpx socket select ssl "
    "sqlite3 gc tracemalloc resource __future__ builtins array concurrent threading asyncio queue "
    "signal tempfile weakref graphlib torch tiktoken tensorflow networkx sympy PIL openpyxl xlrd "
    "docx pypdf PyPDF2 pdfplumber pygments libcst parso jedi rich textstat humanize "
    "more_itertools toolz sortedcontainers fileinput shlex getopt optparse http subprocess shutil "
    "plistlib pwd grp readline curses nbformat unidiff semver distutils.version markupsafe idna "
    "certifi termcolor colorama tqdm prettytable"
)
# Functions, with their module, whose mention alone means a change.
CHANGING_FUNCTIONS = split_words(
    "os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace os.mkdir "
    "os.makedirs os.link os.symlink os.chmod os.chown os.lchown os.lchmod os.truncate "
    "os.ftruncate os.mkfifo os.mknod os.utime os.kill os.killpg os.write os.pwrite os.writev "
    "os.setxattr os.removexattr os.chflags os.sendfile os.copy_file_range os.fchmod os.fchown "
    "os.startfile shutil.rmtree shutil.move shutil.copy shutil.copy2 shutil.copyfile "
    "shutil.copytree shutil.copymode shutil.copystat shutil.chown shutil.make_archive "
    "shutil.unpack_archive urllib.request.urlretrieve urllib.urlretrieve requests.post "
    "requests.put requests.patch requests.delete httpx.post httpx.put httpx.patch httpx.delete "
    "tempfile.mkstemp tempfile.mkdtemp tempfile.NamedTemporaryFile tempfile.TemporaryDirectory "
    "tempfile.TemporaryFile numpy.save numpy.savez numpy.savez_compressed numpy.savetxt "
    "numpy.memmap torch.save signal.pthread_kill plistlib.writePlist py_compile.compile "
    "compileall.compile_dir compileall.compile_file pip.main ensurepip.bootstrap venv.create "
    "pathlib.Path.unlink pathlib.Path.write_text pathlib.Path.write_bytes pathlib.Path.mkdir "
    "pathlib.Path.rmdir pathlib.Path.touch pathlib.Path.rename pathlib.Path.replace "
    "pathlib.Path.chmod matplotlib.pyplot.savefig logging.FileHandler "
    "logging.handlers.RotatingFileHandler smtplib.SMTP smtplib.SMTP_SSL nbformat.write"
)
# Functions that start a command: its words are the first argument.
STARTING_FUNCTIONS = split_words(
    "os.system os.popen subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen subprocess.getoutput subprocess.getstatusoutput "
    "commands.getoutput pexpect.run pexpect.spawn asyncio.create_subprocess_shell "
    "asyncio.create_subprocess_exec os.execv os.execve os.execvp os.execvpe os.execl os.execlp "
    "os.execle os.spawnl os.spawnlp os.spawnv os.spawnvp os.posix_spawn os.posix_spawnp pty.spawn "
    "sh.run plumbum.local IPython.system"
)
# Functions of pure modules that run code, or change something in a way that cannot be followed.
OPAQUE_FUNCTIONS = split_words(
    "importlib.import_module importlib.__import__ importlib.reload "
    "importlib.util.module_from_spec runpy.run_path runpy.run_module sys.modules sys.setprofile "
    "sys.settrace sys.meta_path sys.path_hooks builtins.exec builtins.eval builtins.compile "
    "builtins.__import__ pickle.load pickle.loads marshal.loads marshal.load yaml.unsafe_load "
    "operator.methodcaller operator.attrgetter types.FunctionType types.CodeType timeit.timeit "
    "timeit.repeat code.interact os.fork os.forkpty inspect.currentframe gc.get_objects "
    "torch.load pandas.read_pickle pandas.eval socket.socket socket.create_connection "
    "asyncio.open_connection jinja2.Template ctypes.CDLL multiprocessing.Process"
)
# Functions that open a file: the position and the name of the argument with the mode.
OPENING_FUNCTIONS = {
    "open": 1,
    "io.open": 1,
    "io.FileIO": 1,
    "codecs.open": 1,
    "gzip.open": 1,
    "bz2.open": 1,
    "lzma.open": 1,
    "gzip.GzipFile": 1,
    "bz2.BZ2File": 1,
    "lzma.LZMAFile": 1,
    "zipfile.ZipFile": 1,
    "tarfile.open": 1,
    "tarfile.TarFile": 1,
    "os.fdopen": 1,
    "fileinput.input": 9,
    "fileinput.FileInput": 9,
}
# Methods whose name alone says that they change a file or a service.
CHANGING_METHODS = split_words(
    "write_text write_bytes unlink rmdir mkdir touch symlink_to hardlink_to link_to rmtree to_csv "
    "to_excel to_parquet to_pickle to_sql to_feather to_hdf to_stata to_gbq write_csv "
    "write_parquet write_json write_excel write_ndjson write_ipc sink_parquet sink_csv savefig "
    "extractall executemany executescript terminate drop_all create_all bulk_create bulk_update "
    "delete_object put_object upload_file upload_fileobj download_file delete_many insert_one "
    "insert_many update_one update_many replace_one drop_collection drop_database create_index "
    "send_message sendmail sendto sendall writestr write_image delete_bucket create_bucket "
    "terminate_instances stop_instances run_instances urlretrieve tofile writelines makedirs "
    "removedirs save_pretrained push_to_hub"
)
# Methods that read, compute, or change objects in memory only.
PLAIN_METHODS = split_words(
    "read readline readlines readable seek tell close flush fileno isatty getvalue decode encode "
    "strip lstrip rstrip split rsplit splitlines partition rpartition join startswith endswith "
    "find rfind index rindex count lower upper title capitalize casefold swapcase center ljust "
    "rjust zfill expandtabs format format_map translate maketrans isdigit isalpha isalnum isspace "
    "isupper islower istitle isnumeric isdecimal isidentifier isascii isprintable removeprefix "
    "removesuffix hex append extend insert pop remove clear sort reverse copy deepcopy get items "
    "keys values update setdefault popitem fromkeys add discard union intersection difference "
    "symmetric_difference issubset issuperset isdisjoint most_common elements subtract total "
    "appendleft popleft extendleft rotate group groups groupdict start end span expand match "
    "fullmatch search findall finditer sub subn groupindex exists is_file is_dir is_symlink "
    "is_absolute is_mount resolve absolute iterdir glob rglob walk stat lstat owner read_text "
    "read_bytes with_suffix with_name with_stem relative_to is_relative_to joinpath as_posix "
    "as_uri expanduser home cwd samefile readlink isoformat strftime strptime timestamp date time "
    "now today utcnow fromtimestamp fromisoformat total_seconds astimezone weekday isoweekday "
    "timetuple utcfromtimestamp combine mean median std var sum min max abs round head tail "
    "describe info dropna fillna isna isnull notna notnull unique nunique value_counts "
    "sort_values sort_index groupby agg aggregate apply map filter select with_columns collect "
    "lazy merge concat pivot pivot_table melt reset_index set_index rename_axis drop "
    "drop_duplicates duplicated astype to_dict to_list tolist to_numpy to_json to_string "
    "to_markdown to_html iterrows itertuples sample query assign where mask reshape flatten ravel "
    "transpose dot all any cumsum argmax argmin argsort nonzero numpy item detach cpu size dim "
    "numel parameters state_dict named_parameters getroot iter iterfind findtext itertext "
    "tostring getchildren xpath cssselect select_one find_all find_parent find_next get_text "
    "prettify sections options has_section has_option getint getfloat getboolean hexdigest digest "
    "namelist infolist getnames getmembers getinfo extractfile testzip communicate wait poll "
    "fetchall fetchone fetchmany cursor fetch json raise_for_status iter_lines iter_content "
    "getcode geturl getheader getheaders parse parse_args parse_known_args add_argument "
    "print_help format_help error warning debug exception critical setLevel getLogger basicConfig "
    "bit_length bit_count to_bytes from_bytes as_integer_ratio is_integer conjugate quantize "
    "normalize sqrt ln exp compare choice choices shuffle randint random uniform gauss seed visit "
    "generic_visit get_docstring unparse literal_eval dump dumps loads load safe_load "
    "safe_load_all getsource getfile getmembers_static signature bind cache_clear cache_info "
    "partial reduce accumulate chain submit result as_completed shutdown gather "
    "run_until_complete wait_for sleep acquire release put_nowait get_nowait task_done empty full "
    "qsize cpu_percent virtual_memory memory_info metadata version requires files entry_points "
    "distribution distributions tobytes frombytes cast unpack unpack_from calcsize iter_unpack "
    "printable with_traceback add_note throw athrow __init__ __repr__ __str__ __len__ __iter__ "
    "__next__ __getitem__ __contains__ __eq__ __hash__ __enter__ __exit__ __dir__ setter getter "
    "deleter mro show pprint print add_column add_row rule highlight iter_rows extract_text "
    "extract_tables getpixel getbbox convert format_exc print_exc extract getcomments dedent "
    "indent wrap fill shorten quote unquote urlparse urlsplit urlunparse urlencode parse_qs "
    "parse_qsl nodes edges degree neighbors predecessors successors tabulate encode_ordinary "
    "walk_packages iter_modules find_spec find_loader get_data scandir inode entries lines schema "
    "null_count estimated_size row rows n_unique to_pandas to_arrow over alias is_null "
    "is_not_null is_in contains len_chars swapaxes squeeze unsqueeze trace diagonal fit predict "
    "transform score"
)
PLAIN_FUNCTIONS = split_words(
    "print len sorted list dict set tuple str int float bool bytes bytearray frozenset complex "
    "range enumerate zip map filter sum min max abs round all any repr ascii chr ord hex oct bin "
    "format hash id isinstance issubclass hasattr type iter next reversed slice pow divmod object "
    "super property staticmethod classmethod callable dir input memoryview help vars exit quit "
    "anext aiter Exception ValueError TypeError KeyError RuntimeError SystemExit StopIteration "
    "OSError AssertionError NotImplementedError IndexError FileNotFoundError AttributeError"
)
# Attributes with which code reaches what its text does not name.
OPAQUE_ATTRIBUTES = split_words(
    "__subclasses__ __globals__ __builtins__ __getattribute__ __import__ __loader__ __code__ "
    "__bases__ __reduce__ __reduce_ex__ __closure__ __base__ f_globals f_locals f_back gi_frame "
    "cr_frame tb_frame"
)
OPAQUE_NAMES = split_words(
    "__builtins__ __loader__ __import__ exec eval compile setattr delattr breakpoint"
)
WRITING_VERBS = split_words(
    "create delete remove drop save write update insert put post set upload move rename truncate "
    "migrate commit push send publish install deploy destroy purge reset clear kill stop start "
    "restart terminate"
)
STANDARD_STREAMS = split_words(
    "sys.stdout sys.stderr sys.__stdout__ sys.__stderr__ sys.stdout.buffer sys.stderr.buffer"
)
