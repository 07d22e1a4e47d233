// Words for one access or one sync instance of a hazard.
#pragma once

#include <string>

#include "amir/explain_trace.hpp"
#include "amir/explain_words.hpp"
#include "semantics/diagnostic.hpp"

namespace exocheck::amir {

// "read", "write", "read-write", "atomic", "free", "allocation": of a Check, Record or other access node.
std::string access_mode(const Words& words, NodeId node);
// "read", "write", "update", "atomic update".
std::string access_verb(const Words& words, NodeId node);

// The failing access; `collective` empty: unknown.
semantics::AccessDetail second_access(const Words& words, const Hazard& hazard);
// The access whose record failed.
semantics::AccessDetail first_access(const Words& words, const Hazard& hazard);

// "argument dst of Sm90_copy_..., k = 2": what a note adds to the bare line; empty if there is nothing.
std::string access_circumstances(const Words& words, const Instance& at);

// One sentence: what the sync instance did for the first access.
std::string describe_step(const Words& words, const NearMiss& step);
// One sentence: why it does not help the second access.
std::string describe_miss(const Words& words, const NearMiss& miss, const Hazard& hazard);

// Thread of the task-id space that the hazard misses, or the whole collective.
std::string missing_party(const Words& words, const Hazard& hazard);

}  // namespace exocheck::amir
