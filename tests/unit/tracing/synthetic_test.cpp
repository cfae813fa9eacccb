// synthetic_events and dynamic_events: definitions, listings, formats, removal, and every error
// text. A '^' in a text stands where the caret must be.
#include "core/tracing/format/synthetic.h"

#include <gtest/gtest.h>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class SyntheticTest : public EventFixture {
 protected:
  enum class File { kSynthetic, kDynamic };
  Result<void> write(File file, const std::string& text) {
    return file == File::kSynthetic ? set.synthetic.write(text) : set.synthetic.write_dynamic(text);
  }
  void refuses(File file, std::string text, std::string_view reason,
               ErrorCode code = ErrorCode::kInvalid) {
    const std::size_t caret = text.find('^');
    if (caret != text.npos) text.erase(caret, 1);
    const auto written = write(file, text);
    ASSERT_FALSE(written) << text;
    EXPECT_EQ(written.error().reason, reason) << text;
    EXPECT_EQ(written.error().token_at, caret == text.npos ? 0 : caret) << text;
    EXPECT_EQ(written.error().location, "synthetic_events");
    EXPECT_EQ(written.error().text, text);
    EXPECT_EQ(code_of(written), code);
  }
};

TEST_F(SyntheticTest, ListsWhatWasDefined) {
  synthetic("wakeup_latency u64 lat; pid_t pid; int prio");
  synthetic("strings char comm[16]; char name[]; unsigned long[] stack; unsigned int x;");
  synthetic("loose u64 lat pid_t pid int prio");
  EXPECT_EQ(SyntheticEvents::text(set.synthetic.definitions()),
            "wakeup_latency\tu64 lat; pid_t pid; int prio\n"
            "strings\tchar[16] comm; char[] name; unsigned long[] stack; unsigned int x\n"
            "loose\tu64 lat; pid_t pid; int prio\n");
  EXPECT_EQ(SyntheticEvents::dynamic_text(set.synthetic.definitions()),
            "s:synthetic/wakeup_latency\tu64 lat; pid_t pid; int prio\n"
            "s:synthetic/strings\tchar[16] comm; char[] name; unsigned long[] stack; unsigned int "
            "x\n"
            "s:synthetic/loose\tu64 lat; pid_t pid; int prio\n");
}

TEST_F(SyntheticTest, TakesEveryType) {
  for (const std::string type : {"u8",
                                 "u16",
                                 "u32",
                                 "u64",
                                 "s8",
                                 "s16",
                                 "s32",
                                 "s64",
                                 "char",
                                 "unsigned char",
                                 "int",
                                 "unsigned int",
                                 "long",
                                 "unsigned long",
                                 "bool",
                                 "pid_t",
                                 "gfp_t",
                                 "long[]",
                                 "unsigned long[]",
                                 "char[]",
                                 "char[256]"}) {
    const auto parsed = FieldsDefinition::parse("name " + type + " field");
    ASSERT_TRUE(parsed) << type;
    EXPECT_EQ(parsed.value().text(), "name\t" + type + " field");
  }
}

TEST_F(SyntheticTest, DescribesItsRecords) {
  const EventNumber made = synthetic("made u64 lat; pid_t pid; char comm[16]; char name[]");
  const std::string text = *set.events.format_text(made);
  EXPECT_EQ(text.substr(text.find("\n\n") + 2),
            "\tfield:u64 lat;\toffset:8;\tsize:8;\tsigned:0;\n"
            "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
            "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:1;\n"
            "\tfield:__data_loc char[] name;\toffset:40;\tsize:8;\tsigned:1;\n"
            "\nprint fmt: \"lat=%llu, pid=%d, comm=%s, name=%s\", REC->lat, REC->pid, REC->comm, "
            "__get_str(name)\n");
  EXPECT_EQ(text.substr(0, text.find("\nfield:common_type")),
            text.substr(0, text.find("\nfield:common_type")));
  EXPECT_EQ("ID: " + std::to_string(set.events.format(made).id) + "\n",
            text.substr(text.find("ID: "), 10));
  EXPECT_EQ(set.events.format(made).fixed_bytes(), 48u);
}

TEST_F(SyntheticTest, RemovesByNameWhateverFollowsIt) {
  synthetic("wakeup_latency u64 lat; pid_t pid; int prio");
  synthetic("other u64 lat");
  EXPECT_TRUE(set.synthetic.write("!wakeup_latency u64 lat pid_t pid int prio"));
  EXPECT_TRUE(set.synthetic.write_dynamic("-:synthetic/other"));
  EXPECT_EQ(SyntheticEvents::text(set.synthetic.definitions()), "");
  EXPECT_FALSE(set.events.find("synthetic", "other"));
  EXPECT_TRUE(set.synthetic.write_dynamic("s:block_lat pid_t pid; u64 delta;"));
  EXPECT_TRUE(set.synthetic.write_dynamic("s:synthetic/second pid_t pid"));
  EXPECT_TRUE(set.synthetic.write_dynamic("-:block_lat"));
  EXPECT_TRUE(set.synthetic.write("!second"));
  refuses(File::kSynthetic, "!^second", "No such event", ErrorCode::kNotFound);
}

TEST_F(SyntheticTest, KeepsWhatIsInUse) {
  const EventNumber made = synthetic("made u64 lat");
  synthetic("free u64 lat");
  trigger(made, "hist:keys=lat");
  refuses(File::kSynthetic, "!^made", "The event is in use", ErrorCode::kBusy);
  EXPECT_EQ(code_of(set.synthetic.truncate()), ErrorCode::kBusy);
  EXPECT_TRUE(set.events.find("synthetic", "free")) << "all or none";
  trigger(made, "!hist:keys=lat");
  trigger(kmalloc, "hist:keys=call_site:onmatch(kmem.kmalloc).made(call_site)");
  EXPECT_EQ(code_of(set.synthetic.write("!made")), ErrorCode::kBusy);
  set.triggers.truncate(kmalloc);
  ASSERT_TRUE(set.switches.write(made, "1"));
  EXPECT_EQ(code_of(set.synthetic.write("!made")), ErrorCode::kBusy);
  ASSERT_TRUE(set.switches.write(made, "0"));
  EXPECT_TRUE(set.synthetic.truncate());
  EXPECT_EQ(SyntheticEvents::text(set.synthetic.definitions()), "");
}

TEST_F(SyntheticTest, RefusesWhatIsWrongWhereItIsWrong) {
  using enum File;
  refuses(kSynthetic, "myevent ^chr arg", "Invalid type");
  refuses(kSynthetic, "myevent ^unsigned arg", "Incomplete type");
  refuses(kSynthetic, "myevent char ^str]; int v", "Illegal name");
  refuses(kSynthetic, "^mye-vent char str[]", "Illegal name");
  refuses(kSynthetic, "myevent char ^st-r[]", "Illegal name");
  refuses(kSynthetic, "myevent char str;^[]", "Invalid field");
  refuses(kSynthetic, "myevent char str; ^int", "Invalid field");
  refuses(kSynthetic, "myevent char ^str[; int v", "Invalid array specification");
  refuses(kSynthetic, "myevent char ^str[kdjdk]", "Invalid array specification");
  refuses(kSynthetic, "myevent char ^str[257]", "Invalid array specification");
  refuses(kSynthetic, "myevent char ^str[0]", "Invalid array specification");
  refuses(kSynthetic, "myevent int ^str[4]", "Invalid array specification");
  for (const std::string text :
       {"^mye;vent char str[]", "^myevent ; char str[]", "^myevent; char str[]",
        "^myevent ;char str[]", "^; char str[]", "^;myevent char str[]", "^myevent", ""}) {
    refuses(kSynthetic, text, "Command must be of the form: <name> field[;field] ...");
  }
  for (const std::string text : {"^s:junk/myevent char str[", "^x:myevent", "^-:junk/myevent"}) {
    refuses(kDynamic, text,
            "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...");
  }
  synthetic("myevent u64 lat");
  refuses(kSynthetic, "^myevent u64 other", "Event already exists", ErrorCode::kExists);
  std::string many = "many ";
  for (int i = 10; i < 74; ++i) many += "u8 f" + std::to_string(i) + ";";
  refuses(kSynthetic, many + "u8 ^last", "Too many fields");
  EXPECT_TRUE(set.synthetic.write(many));
}

TEST_F(SyntheticTest, DefinesEventsOfUsers) {
  const auto made = set.events.define_fields("web", "request u64 lat; pid_t pid; char comm[16]");
  ASSERT_TRUE(made);
  EXPECT_EQ(set.events.define_fields("web", "request u64 lat; pid_t pid; char comm[16]").value(),
            made.value());
  trigger(made.value(), "hist:keys=comm:vals=lat");
  EXPECT_EQ(set.events.define_fields("web", "request u64 other").error().code, ErrorCode::kExists);
  EXPECT_EQ(set.events.define_fields("synthetic", "request u64 other").error().code,
            ErrorCode::kInvalid);
  feed(made.value(), 1, {{"lat", 7}, {"comm", "nginx"}});
  EXPECT_EQ(entries(made.value()),
            "{ comm: nginx" + std::string(45, ' ') + " } hitcount:          1  lat:          7\n");
  EXPECT_EQ(set.events.remove(made.value()).error().code, ErrorCode::kBusy);
  set.triggers.truncate(made.value());
  EXPECT_TRUE(set.events.remove(made.value()));
  EXPECT_FALSE(set.events.find("web", "request"));
  EXPECT_EQ(code_of(set.commands.write(made.value(), "traceon")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(set.switches.write(made.value(), "1")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(set.filters.write(made.value(), "0")), ErrorCode::kNotFound);
  EXPECT_EQ(*set.events.format_text(made.value()), "");
}

TEST_F(SyntheticTest, JoinsEventsOfUsersWithThoseOfTheKernelByKey) {
  const EventNumber sent = set.events.define_fields("web", "sent u64 job; pid_t worker").value();
  const EventNumber done = synthetic("served u64 lat; u64 job");
  trigger(sent, "hist:keys=worker:ts0=common_timestamp.usecs,j=job");
  trigger(waking,
          "hist:keys=pid:lat=common_timestamp.usecs-$ts0:onmatch(web.sent).served($lat,$j)");
  trigger(done, "hist:keys=job:vals=lat");
  feed(sent, 100, {{"job", 5}, {"worker", 77}});
  feed(waking, 142, {{"pid", 77}});
  EXPECT_EQ(entries(done), "{ job:          5 } hitcount:          1  lat:         42\n");
}

}  // namespace
}  // namespace tallyfs::tracing
