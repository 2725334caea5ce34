/* Which fusion makes one ranking of two, with its parameters, as ragfile/search/fusion.py chooses it. The core adds
up the scores. */

import { ArgumentError } from "./errors.js";

const PARAMETERS = { rrf: ["rrf_k"], blend: ["alpha"], calibrated: ["evidence", "foreign", "known", "linked", "named", "w"] };
const RRF_K = 60;

/** [method, parameters]: the caller's choice before the file's. */
export function methodOf(chosen, recorded) {
  const [name, given] = Array.isArray(chosen) ? chosen : [chosen, {}];
  const method = name ?? recorded.method ?? "calibrated";
  if (!Object.hasOwn(PARAMETERS, method))
    throw new ArgumentError(`unknown fusion '${method}': use calibrated, rrf or blend`);
  const unknown = Object.keys(given)
    .sort()
    .find((one) => !PARAMETERS[method].includes(one));
  if (unknown !== undefined)
    throw new ArgumentError(
      `fusion ${method} has no parameter '${unknown}', only ${PARAMETERS[method].join(" and ")}`,
    );
  const params = { ...recorded, ...given };
  for (const share of ["evidence", "known", "named", "foreign", "linked"])
    if (!(params[share] === undefined || (params[share] >= 0 && params[share] <= 1)))
      throw new ArgumentError(`${share} must be between 0 and 1, not ${params[share]}`);
  return [method, params];
}

/** The constant of rrf, or the weight of vectors in blend. */
export function parameterOf(method, { rrf_k = RRF_K, alpha = 0.5 }) {
  if (method === "rrf" && !(rrf_k >= 0))
    throw new ArgumentError(`rrf_k must not be negative, not ${rrf_k}`);
  if (method === "blend" && !(alpha >= 0 && alpha <= 1))
    throw new ArgumentError(`alpha must be between 0 and 1, not ${alpha}`);
  return method === "rrf" ? rrf_k : alpha;
}
