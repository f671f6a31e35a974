module.exports = async function(params, context) {
  const { action, range, title, start, end, calendar, notes, location } = params;
  
  try {
    if (action === 'lookup') {
      const r = range || 'today';
      // SECURITY: Use string[] — execFileSync with discrete args, no shell interpolation
      const args = ['/usr/local/bin/ical-query', r];
      if (calendar) { args.push('--calendar'); args.push(calendar); }
      const output = await context.exec(args);
      
      if (!output || !output.trim()) {
        return { success: true, message: `No events found for ${r}.`, result: { events: [] } };
      }
      return { success: true, message: output.trim(), result: { events: output.trim() } };
    }
    
    if (action === 'create') {
      if (!title || !start || !end) {
        return { success: false, error: 'Missing required fields: title, start, end', message: "I need a title, start time, and end time to create an event." };
      }
      // SECURITY: Use string[] — execFileSync with discrete args, no shell interpolation
      const args = ['/usr/local/bin/ical-query', 'add', title, start, end];
      if (calendar) { args.push('--calendar'); args.push(calendar); }
      if (location) { args.push('--location'); args.push(location); }
      if (notes) { args.push('--notes'); args.push(notes); }
      const output = await context.exec(args);
      
      context.callLog.write({
        type: 'skill.calendar.create',
        title, start, end, calendar, location, notes,
        output: output.trim()
      });
      
      return { success: true, message: `Done — I've added "${title}" to the calendar.`, result: { created: true, output: output.trim() } };
    }
    
    return { success: false, error: `Unknown action: ${action}`, message: "I can look up events or create them — which would you like?" };
  } catch (e) {
    return { success: false, error: String(e), message: "I had trouble accessing the calendar. Let me note that for follow-up." };
  }
};
