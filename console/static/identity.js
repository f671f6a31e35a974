/** Who the person is, and what the pasted token allows. */

export const identity = {
  userId: null,
  scopes: [],
  set({ user_id: userId, scopes }) {
    Object.assign(this, { userId, scopes });
  },
  may(scope) {
    return this.scopes.includes(scope) || this.scopes.includes("admin");
  },
};
